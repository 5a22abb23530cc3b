// SPDX-License-Identifier: MIT OR Apache-2.0
      if (memcmp(@own@, @recorded@, @size@) != 0) {
        if (IS_RECORDED_WITH_THIS_LIBRARY) {
          return failed("@name@");
        }
        ++differing;
      }
      if (memcmp(@own@, @prefix@@name@(&contexts[0]), @size@) != 0) {
        return failed("@name@ of two contexts");
      }
