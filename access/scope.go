package access

import "context"

// Operation says which tokens may use a route or a statement, whatever their user may do. The zero value permits none.
type Operation int

// The operations.
const (
	_               Operation = iota
	ReadOperation             // filtered to what the identity may see
	WriteOperation            // changes something
	WorkerOperation           // of the worker protocol
	OwnOperation              // about the token or the session of the request itself: tokens of every scope may use it
	AnyOperation              // a read that tokens of every scope may use
)

// need is the need of an operation, by the same classes as those of commands and reads.
func (o Operation) need() need {
	switch o {
	case ReadOperation:
		return need{class: needRead}
	case WriteOperation:
		return need{class: needWrite}
	case WorkerOperation:
		return need{class: needWorker}
	case AnyOperation:
		return need{class: needAny}
	}
	return need{class: needInternal}
}

// InScope reports whether the scope of the token of the identity permits an operation. A caller asks before it reads a request,
// because the answers to a bad request also say what exists. The commands and reads of the operation are checked besides.
func (g *Guard) InScope(ctx context.Context, o Operation) error {
	a, err := g.directory.authority(ctx, g.id)
	if err != nil || o == OwnOperation {
		return err
	}
	if refusal := a.inScope(o.need()); refusal != nil {
		g.directory.recorder.denied(g.id.User, refusal)
		return refusal
	}
	return nil
}
