# Every examples/*.c and every bench/bench_*.c is a program.  They see what a user sees: the public headers and the
# shared library.  The benchmarks share bench/bench.c and bench/limit.c, which writes to SQLite by itself.

# pawl_add_programs(<folder> <pattern> [<library>...])
function(pawl_add_programs folder pattern)
    file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/${pattern})
    foreach(source ${sources})
        get_filename_component(name ${source} NAME_WE)
        # Targets share one namespace; the file keeps the plain name.
        add_executable(${folder}_${name} ${source})
        set_target_properties(${folder}_${name} PROPERTIES
            OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${folder})
        target_link_libraries(${folder}_${name} PRIVATE ${ARGN} pawl_flags pawl Threads::Threads)
    endforeach()
endfunction()

pawl_add_programs(examples *.c)

# Those with a PAWL_MODULE are modules besides, <build>/examples/<name>.so: for pawld and pawl-check, from which a module
# takes pawl_*.
file(GLOB example_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/examples/*.c)
foreach(source ${example_sources})
    file(STRINGS ${source} exports REGEX "^PAWL_MODULE\\(")
    if(exports)
        get_filename_component(name ${source} NAME_WE)
        add_library(examples_${name}_module MODULE ${source})
        set_target_properties(examples_${name}_module PROPERTIES
            PREFIX "" SUFFIX .so OUTPUT_NAME ${name} LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/examples)
        target_compile_definitions(examples_${name}_module PRIVATE PAWL_NO_MAIN)
        target_include_directories(examples_${name}_module PRIVATE ${PROJECT_SOURCE_DIR}/include)
        target_link_libraries(examples_${name}_module PRIVATE pawl_flags)
    endif()
endforeach()

add_library(pawl_bench OBJECT bench/bench.c bench/limit.c bench/sequential.c bench/wake.c)
target_link_libraries(pawl_bench PRIVATE pawl_flags pawl PUBLIC PkgConfig::PAWL_SQLITE3)
pawl_add_programs(bench bench_*.c pawl_bench)

# Those of PostgreSQL share more, and a program that starts and ends their server: the tests' own.
set(postgres_benchmarks bench_bench_postgres_sequential bench_bench_postgres_wake bench_bench_postgres_processes
    bench_bench_postgres_claims)
foreach(target ${postgres_benchmarks})
    if(PAWL_BUILD_POSTGRES)
        target_sources(${target} PRIVATE bench/postgres.c bench/process.c)
        target_link_libraries(${target} PRIVATE PkgConfig::PAWL_LIBPQ)
    else()
        set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL ON)
    endif()
endforeach()
if(PAWL_BUILD_POSTGRES)
    find_program(PG_CONFIG pg_config REQUIRED)
    execute_process(COMMAND ${PG_CONFIG} --bindir OUTPUT_VARIABLE postgres_bin OUTPUT_STRIP_TRAILING_WHITESPACE)
    add_executable(bench_postgres_server tests/postgres/fixture.c tests/kit/postgres_server.c)
    set_target_properties(bench_postgres_server PROPERTIES
        OUTPUT_NAME postgres_server RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
    target_include_directories(bench_postgres_server PRIVATE tests)
    target_compile_definitions(bench_postgres_server PRIVATE PAWL_TEST_POSTGRES_BIN="${postgres_bin}")
    target_link_libraries(bench_postgres_server PRIVATE pawl_flags PkgConfig::PAWL_LIBPQ)
endif()
if(PAWL_BUILD_HTTP)
    target_sources(bench_bench_http PRIVATE bench/http_empty.c bench/http_crowd.c)
    target_link_libraries(bench_bench_http PRIVATE pawl_http PkgConfig::PAWL_MICROHTTPD)
else()
    set_target_properties(bench_bench_http PROPERTIES EXCLUDE_FROM_ALL ON)
endif()
