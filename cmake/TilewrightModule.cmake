# How every engine module is built: one static library for one folder under src/, linked only with the
# modules that it may know. The dependency list in src/CMakeLists.txt is therefore the include rule itself;
# scripts/check-includes.py checks the same rule textually.

find_program(TILEWRIGHT_CCACHE ccache)
if(TILEWRIGHT_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${TILEWRIGHT_CCACHE})
endif()
find_program(TILEWRIGHT_MOLD mold)
if(TILEWRIGHT_MOLD)
  add_link_options(-fuse-ld=mold)
endif()

add_library(tilewright_options INTERFACE)
target_include_directories(tilewright_options INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>)
target_compile_options(tilewright_options INTERFACE -Wall -Wextra -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 reports std::string concatenation as overlapping memcpy (GCC bug 105651).
  target_compile_options(tilewright_options INTERFACE -Wno-restrict)
endif()
if(TILEWRIGHT_WERROR)
  target_compile_options(tilewright_options INTERFACE -Werror)
endif()
if(TILEWRIGHT_SANITIZE)
  target_compile_options(tilewright_options INTERFACE -fsanitize=${TILEWRIGHT_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(tilewright_options INTERFACE -fsanitize=${TILEWRIGHT_SANITIZE})
endif()
if(TILEWRIGHT_BUILD_FUZZERS)
  target_compile_options(tilewright_options INTERFACE -fsanitize=fuzzer-no-link) # coverage of the engine guides the fuzzer
endif()

find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(tl-expected REQUIRED)
find_package(Threads REQUIRED)

# tilewright_module(NAME [DEPENDS module...] [LIBRARIES target...] [FOLDERS folder...]): FOLDERS are subfolders whose
# sources belong to the module too.
function(tilewright_module name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LIBRARIES;FOLDERS" ${ARGN})
  string(REPLACE "_" "/" folder ${name})
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${folder}/*.cpp)
  foreach(subfolder IN LISTS ARG_FOLDERS)
    file(GLOB more CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${folder}/${subfolder}/*.cpp)
    list(APPEND sources ${more})
  endforeach()
  if(NOT sources)
    return()
  endif()
  add_library(tilewright_${name} STATIC ${sources})
  target_link_libraries(tilewright_${name}
    PUBLIC tilewright_options fmt::fmt tl::expected Threads::Threads
    PRIVATE spdlog::spdlog nlohmann_json::nlohmann_json ${ARG_LIBRARIES})
  foreach(dependency IN LISTS ARG_DEPENDS)
    target_link_libraries(tilewright_${name} PUBLIC tilewright_${dependency})
  endforeach()
endfunction()

# tilewright_unit_tests(MODULE [LIBRARIES target...]): tests/unit/MODULE/*.cpp become MODULE_tests.
function(tilewright_unit_tests name)
  cmake_parse_arguments(ARG "" "" "LIBRARIES" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cpp)
  if(NOT sources)
    return()
  endif()
  add_executable(${name}_tests ${sources})
  target_link_libraries(${name}_tests PRIVATE GTest::gmock GTest::gtest_main ${ARG_LIBRARIES}
    nlohmann_json::nlohmann_json spdlog::spdlog)
  # Tests are compiled once and run for seconds: half of the optimiser's time would be theirs.
  if(CMAKE_BUILD_TYPE STREQUAL "Release")
    target_compile_options(${name}_tests PRIVATE -O1)
  endif()
  target_compile_definitions(${name}_tests PRIVATE
    TILEWRIGHT_SOURCE_DIR="${PROJECT_SOURCE_DIR}" TILEWRIGHT_BINARY_DIR="${PROJECT_BINARY_DIR}")
  add_test(NAME ${name} COMMAND ${name}_tests)
  set_tests_properties(${name} PROPERTIES TIMEOUT 600)
endfunction()
