# ort/: hone as an execution provider of ONNX Runtime, a library that the runtime loads.  It needs
# nothing of the runtime to be built; where its headers are (HONE_ORT_INCLUDE) they are compared with.
set(HONE_ORT_INCLUDE "" CACHE PATH "folder with onnxruntime_c_api.h; optional: ours are held against it")
file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/ort/*.c)
list(FILTER sources EXCLUDE REGEX "slots_check\\.c$")
add_library(hone_ort MODULE ${sources} ${CMAKE_SOURCE_DIR}/graph/runtime/model_run.c)
target_link_libraries(hone_ort PRIVATE hn_target ${CMAKE_DL_LIBS})
target_link_options(hone_ort PRIVATE -Wl,--exclude-libs,ALL -Wl,-z,defs)
set_target_properties(hone_ort PROPERTIES C_VISIBILITY_PRESET hidden)
if(HONE_ORT_INCLUDE)
  add_library(hone_ort_slots OBJECT ${CMAKE_SOURCE_DIR}/ort/slots_check.c)
  target_include_directories(hone_ort_slots SYSTEM PRIVATE ${HONE_ORT_INCLUDE})
  add_dependencies(hone_ort hone_ort_slots)
endif()
install(TARGETS hone_ort LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/hone
  COMPONENT library)
