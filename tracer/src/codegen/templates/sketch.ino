// SPDX-License-Identifier: MIT OR Apache-2.0
// @line@

#include <@prefix@model.h>

@define_memories@static @prefix@context context;
@read_rows@
static void stop(const char *reason) {
  Serial.println(reason);
  for (;;) {
  }
}

void setup() {
  Serial.begin(115200);
  if (@prefix@init(&context, @given_memories@) != @PREFIX@OK) {
    stop("@name@ has not started");
  }
}

void loop() {
@sketch_input@  const unsigned long start = micros();
  if (@prefix@invoke(&context@given_rows@) != @PREFIX@OK) {
    stop("@name@ has failed");
  }
  Serial.print(micros() - start);
  Serial.println(" us");
  for (size_t i = 0; i < @PREFIX@@OUTPUT@_ELEMENTS; i++) {
    Serial.println(static_cast<double>(@prefix@@output@(&context)[i]));
  }
}
