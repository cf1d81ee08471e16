package sqlite

import (
	"errors"

	"github.com/rotajobs/rota"
	"zombiezen.com/go/sqlite"
)

// fault translates an error of SQLite, by its result code, into a rota.Error with a reason and a
// remedy.
func fault(act string, err error) error {
	var known *rota.Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	e := &rota.Error{Code: rota.Internal, Act: "sqlite: " + act, Err: err}
	code := resultCode(err)
	info, ok := faults[code]
	if !ok {
		info, ok = faults[code.ToPrimary()]
	}
	if ok {
		e.Code, e.Reason, e.Hint = info.code, info.reason, info.hint
	}
	return e
}

// faultInfo is what a rota.Error reports about a result code.
type faultInfo struct {
	code         rota.Code
	reason, hint string
}

// diskFull is shared by the result codes that mean a full disk.
var diskFull = faultInfo{rota.Unavailable, "the disk is full", "free disk space and send the batch again; every answered batch is stored"}

var faults = map[sqlite.ResultCode]faultInfo{
	sqlite.ResultBusy:      {rota.Unavailable, "another connection holds the file", "end the transaction of that connection, or send the batch again later"},
	sqlite.ResultLocked:    {rota.Unavailable, "another connection holds the file", "end the transaction of that connection, or send the batch again later"},
	sqlite.ResultReadOnly:  {rota.Unavailable, "the file cannot be written", "give this process write permission on the file and its directory"},
	sqlite.ResultPerm:      {rota.Unavailable, "the permissions of the file do not allow opening it", "give this process read and write permission on the file"},
	sqlite.ResultCantOpen:  {rota.Unavailable, "the file cannot be opened", "check that its directory exists and that this process can write to it"},
	sqlite.ResultFull:      diskFull,
	sqlite.ResultIOErr:     {rota.Unavailable, "the disk failed", "check the system log, and send the batch again when the disk works"},
	sqlite.ResultInterrupt: {rota.Unavailable, "SQLite interrupted the statement", "send the request again"},
	sqlite.ResultNoMem:     {rota.Unavailable, "there is not enough memory", "give this process more memory"},
	sqlite.ResultCorrupt:   {rota.Internal, "the file is damaged", "stop this process, keep a copy of the file, and restore a backup"},
	sqlite.ResultNotADB:    {rota.Internal, "the file is not an SQLite database", "open another file, or restore a backup"},

	sqlite.ResultIOErrSHMSize: diskFull, // no space for the -shm file, which SQLite creates at each start
}

// isConstraint reports whether a constraint or a trigger of the database refused a write.
func isConstraint(err error) bool {
	var known *rota.Error
	return errors.As(err, &known) && known.Err != nil &&
		resultCode(known.Err).ToPrimary() == sqlite.ResultConstraint
}

func isBusy(err error) bool {
	return err != nil && resultCode(err).ToPrimary() == sqlite.ResultBusy
}

// resultCode returns the result code in an error of this store's driver, or of a caller's driver.
func resultCode(err error) sqlite.ResultCode {
	if code, has := callerCode(err); has {
		return code
	}
	return sqlite.ErrCode(err)
}

// callerCode returns the result code in an error of the driver modernc.org/sqlite.
func callerCode(err error) (code sqlite.ResultCode, has bool) {
	var coded interface{ Code() int }
	if has = errors.As(err, &coded); has {
		code = sqlite.ResultCode(coded.Code())
	}
	return code, has
}
