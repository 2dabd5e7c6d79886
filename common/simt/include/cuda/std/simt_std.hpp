#pragma once
/// \file
/// cuda::std is the host's std.

namespace std {}
namespace cuda::std {
using namespace ::std;
}
