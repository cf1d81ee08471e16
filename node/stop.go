package node

import (
	"context"
	"errors"
	"slices"
	"time"
)

// How long requests may continue after the last job has ended. Short requests are
// answered in that time; streams and long polls are ended, and their clients
// reconnect.
const (
	cancelRequestsAfter = 500 * time.Millisecond
	closeAfter          = 5 * time.Second
)

// stop ends the node in the order that loses nothing: it claims no more jobs, waits
// until the running ones are recorded, and answers requests meanwhile.
func (n *Node) stop(cancel context.CancelFunc, jobs, web *task) {
	cancel()
	n.stopping.Store(true) // after cancel: a client that sees STOPPING can rely on no further claim
	n.logger.Info("stopping: no more jobs start; waiting for those that run",
		"running", n.engine.Snapshot().Running, "deliveries", n.deliveryEngine.Snapshot().Running, "grace", n.config.ShutdownGrace)
	<-jobs.done
	n.shutdownHTTP(web)
	if err := removeAddr(n.path(addrName)); err != nil {
		n.logger.Warn("the address file could not be removed", "error", err)
	}
}

// shutdownHTTP stops the API: first requests in flight may end, then they are cancelled.
func (n *Node) shutdownHTTP(web *task) {
	ctx, done := context.WithTimeout(context.Background(), closeAfter)
	defer done()
	go func() {
		select {
		case <-time.After(cancelRequestsAfter):
		case <-n.cut:
		case <-ctx.Done():
		}
		n.cancelRequests()
	}()
	if err := n.server.Shutdown(ctx); err != nil {
		_ = n.server.Close()
	}
	<-web.done
}

// Cut ends the grace period of a stop at once: running jobs are interrupted and
// recorded as FAILED with the code shutdown, to be retried at the next start.
func (n *Node) Cut() {
	n.cutOnce.Do(func() { close(n.cut) })
	n.engine.Cut()
	n.deliveryEngine.Cut()
}

// onClose registers a function for Close, which calls them in reverse order.
func (n *Node) onClose(closer func() error) { n.closers = append(n.closers, closer) }

// Close releases what Open acquired. Run calls it at its end.
func (n *Node) Close() error {
	n.closing.Do(func() {
		for _, closer := range slices.Backward(n.closers) {
			n.closed = errors.Join(n.closed, closer())
		}
	})
	return n.closed
}
