"""Networks to ask of."""

from dmo_trace import Graph


def mobilenet(resolution, channels_in, channels, classes):
    """MobileNet v1, which halves its map at the second, fourth, sixth and twelfth block; on a grey
    image its first layer is a depthwise convolution."""
    graph = Graph(f"mobilenet {resolution} {channels}")
    x = graph.input((1, resolution, resolution, channels_in))
    stem, *blocks = channels
    if channels_in == 1:
        x = graph.depthwise_conv2d(x, filter=(1, 3, 3, stem), stride=2, padding="same")
    else:
        x = graph.conv2d(x, filter=(stem, 3, 3, channels_in), stride=2, padding="same")
    width, size = stem, (resolution + 1) // 2
    for index, channels_out in enumerate(blocks, 1):
        stride = 2 if index in (2, 4, 6, 12) else 1
        x = graph.depthwise_conv2d(x, filter=(1, 3, 3, width), stride=stride, padding="same")
        x = graph.conv2d(x, filter=(channels_out, 1, 1, width))
        width, size = channels_out, -(-size // stride)
    x = graph.avg_pool(x, filter=size)
    x = graph.conv2d(x, filter=(classes, 1, 1, width))
    x = graph.softmax(graph.reshape(x))
    graph.output(x)
    return graph
