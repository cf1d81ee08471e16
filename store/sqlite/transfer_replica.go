package sqlite

import (
	"context"

	"github.com/rotajobs/rota"
	"zombiezen.com/go/sqlite"
)

// MakeReplica turns a store that no process uses into a replica that has applied a log up to a position. It seals the
// audit first, because replicas seal each entry when they write it.
func MakeReplica(ctx context.Context, path string, position rota.LogPosition) error {
	s, err := Open(path)
	if err != nil {
		return err
	}
	for sealed := 1; err == nil && sealed > 0; {
		sealed, err = s.SealAudit(ctx, rota.SealMax)
	}
	if closeErr := s.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	state := replicaState{LogPosition: position}
	return changeMarks(path, func(conn *sqlite.Conn) error { return putMeta(conn, metaReplica, state.encode()) })
}
