package storekit

import (
	"fmt"

	"github.com/rotajobs/rota"
)

// CheckVersion returns an error unless the version of a schema is the one that this program knows.
// subject names the store: "the file".
func CheckVersion(act, subject string, version, known int) error {
	switch {
	case version > known:
		return &rota.Error{
			Code: rota.Conflict, Act: act,
			Reason: fmt.Sprintf("%s was written by a newer version of Rota (schema version %d, this program knows %d)", subject, version, known),
			Hint:   "upgrade this program, or restore a backup from before the upgrade",
		}
	case version < known:
		return &rota.Error{
			Code: rota.Conflict, Act: act,
			Reason: fmt.Sprintf("%s was written by an older version of Rota (schema version %d, this program needs %d)", subject, version, known),
			Hint:   "open it once for writing with this version, which migrates it",
		}
	}
	return nil
}
