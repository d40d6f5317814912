# The library, compiled once and packed twice.  The shared one exports pawl_* and nothing else; the static one keeps the
# pw_ functions in reach of the tests.  What gets installed, for CMake and for pkg-config, is at the end.

find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
pkg_check_modules(PAWL_SQLITE3 REQUIRED IMPORTED_TARGET sqlite3)
pkg_check_modules(PAWL_JANSSON REQUIRED IMPORTED_TARGET jansson)
set(pawl_libraries PkgConfig::PAWL_SQLITE3 PkgConfig::PAWL_JANSSON Threads::Threads ${CMAKE_DL_LIBS})

file(GLOB_RECURSE pawl_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*.c)
# What the library shares with the programs is compiled into it, so that it needs no other library of ours.
set(pawl_common_sources duration iso json json_walk store_url text thread)
list(TRANSFORM pawl_common_sources REPLACE "(.+)" "${PROJECT_SOURCE_DIR}/common/\\1.c")
set(pawl_pc_requires "sqlite3 jansson")
if(PAWL_BUILD_POSTGRES)
    pkg_check_modules(PAWL_LIBPQ REQUIRED IMPORTED_TARGET libpq)
    list(APPEND pawl_libraries PkgConfig::PAWL_LIBPQ)
    set(pawl_pc_libraries "-lpq ") # not required: its own file asks for archives that its package does not bring
else()
    list(FILTER pawl_sources EXCLUDE REGEX "/src/store/postgres/")
endif()
file(GLOB pawl_headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/pawl/*.h)

add_library(pawl_objects OBJECT ${pawl_sources} ${pawl_common_sources})
target_include_directories(pawl_objects PRIVATE
    ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR})
target_link_libraries(pawl_objects PRIVATE pawl_flags ${pawl_libraries})
if(PAWL_BUILD_POSTGRES)
    target_compile_definitions(pawl_objects PRIVATE PAWL_HAS_POSTGRES)
endif()
if(PAWL_BUILD_TESTS)
    target_compile_definitions(pawl_objects PRIVATE PAWL_ASSERT_STORE_CALLS) # see src/base/bar.h
endif()

add_library(pawl SHARED $<TARGET_OBJECTS:pawl_objects>)
add_library(pawl_static STATIC $<TARGET_OBJECTS:pawl_objects>)
foreach(target pawl pawl_static)
    target_include_directories(${target} PUBLIC
        $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
endforeach()

set(pawl_exports ${CMAKE_CURRENT_LIST_DIR}/exports.map)
target_link_libraries(pawl PRIVATE $<BUILD_INTERFACE:pawl_flags> ${pawl_libraries})
target_link_options(pawl PRIVATE -Wl,--version-script=${pawl_exports})
if(NOT PAWL_SANITIZE)
    target_link_options(pawl PRIVATE -Wl,--no-undefined)
endif()
set_target_properties(pawl PROPERTIES
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR} LINK_DEPENDS ${pawl_exports})

target_link_libraries(pawl_static PUBLIC ${pawl_libraries})
set_target_properties(pawl_static PROPERTIES OUTPUT_NAME pawl EXPORT_NAME static)

add_library(pawl::pawl ALIAS pawl)
add_library(pawl::static ALIAS pawl_static)

# ---- Installing ----

include(CMakePackageConfigHelpers)
set(pawl_config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/pawl)

install(FILES ${pawl_headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/pawl)
install(TARGETS pawl EXPORT pawl_shared)
install(TARGETS pawl_static EXPORT pawl_static)
foreach(kind shared static)
    install(EXPORT pawl_${kind} FILE pawl-${kind}.cmake NAMESPACE pawl:: DESTINATION ${pawl_config_dir})
endforeach()

# From the folder of pawl.pc up to the prefix, so that an installed tree can be moved.
file(RELATIVE_PATH pawl_pc_prefix /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
string(REGEX REPLACE "/$" "" pawl_pc_prefix "${pawl_pc_prefix}")
configure_file(cmake/pawl.pc.in pawl.pc @ONLY)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/pawl-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/pawl.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
configure_file(cmake/pawl-config.cmake.in pawl-config.cmake @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/pawl-config.cmake ${PROJECT_BINARY_DIR}/pawl-config-version.cmake
    DESTINATION ${pawl_config_dir})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
