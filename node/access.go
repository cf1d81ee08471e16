package node

import (
	"context"
	"log/slog"

	"github.com/rotajobs/rota/access"
)

// openAccess creates the directory of users. It reads the store when a user is first needed.
func (n *Node) openAccess() error {
	n.access = access.NewDirectory(n.store, n.clock)
	n.onClose(func() error { n.access.Close(); return nil })
	return nil
}

// recordAccess writes logins, failed logins and denials to the audit, until the context ends.
func recordAccess(ctx context.Context, directory *access.Directory, logger *slog.Logger) {
	directory.Run(ctx, func(err error) {
		logger.Warn("logins and denials could not be written to the audit; they are counted further", "error", err)
	})
}
