package sqlite

import (
	"errors"

	"github.com/rotajobs/rota"
	"zombiezen.com/go/sqlite"
)

// fault translates an error of SQLite, by its result code, into one that
// names the reason and the remedy.
func fault(act string, err error) error {
	var known *rota.Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	e := &rota.Error{Code: rota.Internal, Act: "sqlite: " + act, Err: err}
	code := sqlite.ErrCode(err)
	info, ok := faults[code]
	if !ok {
		info, ok = faults[code.ToPrimary()]
	}
	if ok {
		e.Code, e.Reason, e.Hint = info.code, info.reason, info.hint
	}
	return e
}

// faultInfo is what a result code is to whoever reads it.
type faultInfo struct {
	code         rota.Code
	reason, hint string
}

// diskFull is for each way in which SQLite says so.
var diskFull = faultInfo{rota.Unavailable, "the disk is full", "free some space and try again; what was answered is safe"}

var faults = map[sqlite.ResultCode]faultInfo{
	sqlite.ResultBusy:      {rota.Unavailable, "another connection holds the file", "end its transaction, or wait and send again"},
	sqlite.ResultLocked:    {rota.Unavailable, "another connection holds the file", "end its transaction, or wait and send again"},
	sqlite.ResultReadOnly:  {rota.Unavailable, "the file cannot be written", "give this process the right to write the file and its directory"},
	sqlite.ResultPerm:      {rota.Unavailable, "the file may not be opened", "give this process the right to read and write the file"},
	sqlite.ResultCantOpen:  {rota.Unavailable, "the file cannot be opened", "see that its directory exists and may be written"},
	sqlite.ResultFull:      diskFull,
	sqlite.ResultIOErr:     {rota.Unavailable, "the disk failed", "see the system's log; send the batch again when it works"},
	sqlite.ResultInterrupt: {rota.Unavailable, "it was interrupted", "send it again"},
	sqlite.ResultNoMem:     {rota.Unavailable, "there is not enough memory", ""},
	sqlite.ResultCorrupt:   {rota.Internal, "the file is damaged", "stop, keep a copy of it, and restore a backup"},
	sqlite.ResultNotADB:    {rota.Internal, "the file is not an SQLite database", "name another file, or restore a backup"},

	sqlite.ResultIOErrSHMSize: diskFull, // the index of the log, which is made at each start, found no room
}

// isConstraint reports whether the database itself refused a write.
func isConstraint(err error) bool {
	var known *rota.Error
	return errors.As(err, &known) && known.Err != nil &&
		sqlite.ErrCode(known.Err).ToPrimary() == sqlite.ResultConstraint
}

func isBusy(err error) bool {
	return err != nil && sqlite.ErrCode(err).ToPrimary() == sqlite.ResultBusy
}
