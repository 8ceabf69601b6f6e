// CRC-32C (Castagnoli): what storage and networks use to notice damaged bytes.
#pragma once

#include <cstdint>

namespace hone {

/// Checksum of `bytes` bytes at `data`, continuing `before`, the checksum of the bytes before them. Uses the
/// processor's instruction if it has one. Source: RFC 3720, appendix B.4.
uint32_t crc32c(const void* data, int64_t bytes, uint32_t before = 0);
/// crc32c() computed with a table of 256 entries, as on processors without the CRC instruction.
uint32_t crc32c_by_table(const void* data, int64_t bytes, uint32_t before = 0);

}  // namespace hone
