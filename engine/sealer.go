package engine

import (
	"context"
	"time"

	"github.com/rotajobs/rota"
)

// sealer seals the audit entries of a store that several processes share. If two processes believe that
// they lead, each seals other entries.
type sealer struct{ e *Engine }

// sealEvery is how often the leader looks for new entries: an entry is sealed within a second.
const sealEvery = 500 * time.Millisecond

func newSealer(e *Engine) *sealer { return &sealer{e} }

func (s *sealer) run(ctx context.Context) {
	chain, has := rota.StoreAs[rota.AuditChain](s.e.store)
	if !has {
		return
	}
	var outage outageLog
	for pause(ctx, sealEvery) {
		if !s.e.membership.leads() {
			continue
		}
		if err := s.seal(ctx, chain); err == nil {
			outage.recovered(s.e.config.Logger, "audit entries are sealed again")
		} else if ctx.Err() == nil {
			outage.failed(s.e.config.Logger, "audit entries were not sealed; the next attempt follows", "error", err)
		}
	}
}

// seal seals all entries that are committed.
func (s *sealer) seal(ctx context.Context, chain rota.AuditChain) error {
	for ctx.Err() == nil {
		if sealed, err := chain.SealAudit(ctx, rota.SealMax); err != nil || sealed == 0 {
			return err
		}
	}
	return nil
}
