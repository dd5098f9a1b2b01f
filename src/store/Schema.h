#pragma once
#include "Sqlite.h"

namespace tilewright::store {

/// The version of the layout that this program writes (SQLite's user_version).
inline constexpr int64_t kSchemaVersion = 1;
/// SQLite's application_id: "TWst". Tells a store from any other SQLite file.
inline constexpr int64_t kApplicationId = 0x54577374;

/// Refuses another program's database and one from a newer version; changes nothing.
Expected<void> checkSchema(sqlite::Connection &db, std::string_view location);

/// Brings an open database to `kSchemaVersion`: creates the tables in an empty one, migrates an older one
/// step by step in one transaction. Refuses another program's database and one from a newer version, and
/// changes neither. With `readOnly` only checks.
Expected<void> prepareSchema(sqlite::Connection &db, std::string_view location, bool readOnly);

} // namespace tilewright::store
