#pragma once
/// \file
/// What the files of chapter 06's tests share.

#include <set>
#include <string>

namespace nbody_test {

/// The versions built here that take bodies as float4, by id.
std::set<std::string> versions_of_vectors();

}  // namespace nbody_test
