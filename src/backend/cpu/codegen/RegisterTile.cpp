#include "RegisterTile.h"

#include <algorithm>

namespace tilewright::cpu {

RegisterTile chooseRegisterTile(const CpuIsa &isa, int64_t m, int64_t n, int64_t elementBytes) {
  RegisterTile tile;
  tile.lanes = std::max<int64_t>(1, isa.vectorBytes / elementBytes);
  while (n % tile.lanes != 0)
    tile.lanes /= 2;
  const int64_t columns = n / tile.lanes, registers = isa.vectorRegisters;
  // The pair that does most multiply-adds per load: rows*vectors / (rows + vectors).
  double best = 0;
  for (int64_t vectors = 1; vectors <= std::min<int64_t>(columns, 4); ++vectors) {
    if (columns % vectors != 0)
      continue;
    for (int64_t rows = 1; rows <= std::min<int64_t>(m, 16); ++rows) {
      if (m % rows != 0 || rows * vectors + vectors + 1 > registers)
        continue;
      const double reuse = static_cast<double>(rows * vectors) / static_cast<double>(rows + vectors);
      if (reuse > best) {
        best = reuse;
        tile.rows = rows;
        tile.vectors = vectors;
      }
    }
  }
  return tile;
}

} // namespace tilewright::cpu
