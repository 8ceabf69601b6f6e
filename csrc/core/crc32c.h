// CRC-32C (Castagnoli): what storage and networks use to notice damaged bytes.
#pragma once

#include <cstdint>

namespace hone {

/// Of `bytes` bytes at `data`, going on from `before`, the checksum of what came earlier. By the processor's own instruction
/// where it has one. Source: RFC 3720, appendix B.4.
uint32_t crc32c(const void* data, int64_t bytes, uint32_t before = 0);
/// The same, by a table; what crc32c() does on other processors.
uint32_t crc32c_by_table(const void* data, int64_t bytes, uint32_t before = 0);

}  // namespace hone
