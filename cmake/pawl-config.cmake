# find_package(pawl) gives pawl::pawl, the shared library, pawl::http where it was built with it, and pawl::static where the libraries that it needs are there
# for linking.
include(${CMAKE_CURRENT_LIST_DIR}/pawl-shared.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/pawl-http.cmake OPTIONAL)

find_package(Threads QUIET)
find_package(PkgConfig QUIET)
if(Threads_FOUND AND PkgConfig_FOUND)
    pkg_check_modules(PAWL_SQLITE3 QUIET IMPORTED_TARGET sqlite3)
    pkg_check_modules(PAWL_JANSSON QUIET IMPORTED_TARGET jansson)
    if(PAWL_SQLITE3_FOUND AND PAWL_JANSSON_FOUND)
        include(${CMAKE_CURRENT_LIST_DIR}/pawl-static.cmake)
    endif()
endif()
