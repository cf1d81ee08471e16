package postgres

import (
	"context"

	"github.com/rotajobs/rota/internal/rules"
)

// pipeline is the connection of a transaction and the statements that are not sent yet. It sends
// them together, in one round trip.
type pipeline struct {
	*session
	ctx      context.Context
	pending  []statement   // to be sent with the next read or the COMMIT
	loading  []statement   // of the current Load
	answered bool          // the server has answered
	clock    rules.Reading // time of the batch; zero until it is read
}

// queue adds statements to those that are sent next.
func (p *pipeline) queue(statements ...statement) { p.pending = append(p.pending, statements...) }

// flush sends the pending statements and some more.
func (p *pipeline) flush(statements ...statement) error {
	statements = append(p.pending, statements...)
	p.pending = nil
	for i := range statements {
		if late := statements[i].late; late != nil {
			statements[i] = late()
		}
	}
	return p.send(p.ctx, statements...)
}

// rollback ends a transaction that was not committed, or closes its connection if that fails.
func (p *pipeline) rollback() { p.endTransaction(p.ctx) }
