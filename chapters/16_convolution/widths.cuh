#pragma once
/// \file
/// From a width that is known at run time to a parameter of a template.

#include <type_traits>

namespace widths {

template <int width>
using Width = std::integral_constant<int, width>;

/// Calls body(Width<w>()) for w == width, an odd number from `least` to `most`. A template of body
/// then knows w when it is compiled. Does nothing for other widths.
template <int least, int most, class Body>
void choose(int width, Body body) {
  if (width == least) {
    body(Width<least>());
  } else if constexpr (least + 2 <= most) {
    choose<least + 2, most>(width, body);
  }
}

}  // namespace widths
