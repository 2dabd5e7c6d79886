#include "chapter/chapter.hpp"
int main(int argc, char** argv) { return course::run(argc, argv, course::chapter()); }
