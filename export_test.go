package rota

// What the tests of package rota_test need of the package.
var (
	CheckNewID    = checkNewID
	CheckJSON     = checkJSON
	OutcomeStates = outcomeStates
	Mebibytes     = mebibytes
	Quote         = quote
)

const EntryBytes = entryBytes
