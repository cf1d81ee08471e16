package sqlite

import "github.com/rotajobs/rota/internal/storekit"

const sqlDataVersion = `PRAGMA data_version`

// dropStaleCaches drops the cached jobs and webhooks if another connection has written to the file.
func (w *writer) dropStaleCaches() error {
	return w.Read(sqlDataVersion, func(r storekit.Row) error {
		if version := r.Int(0); version != w.dispatched.version {
			w.dispatched, w.hooks = dispatchedCache{version: version}, hooksCache{}
		}
		return nil
	})
}
