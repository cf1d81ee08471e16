package auditchain

import (
	"context"
	"io"

	"github.com/rotajobs/rota"
)

// exportPage is how many entries an export holds in memory.
const exportPage = 100

// Export writes an audit so that Verify can check it without the store.
type Export struct {
	Chain rota.AuditChain
	Audit func(context.Context, rota.AuditQuery) (rota.AuditPage, error) // lists the derived entries; nil: they are left out
	Head  func(context.Context) (*rota.AuditHead, error)                 // signs the head, and returns the last one
	to    io.Writer
	end   endLine
}

// Write writes the export. It writes the derived entries first: an entry that is sealed meanwhile, because its
// job is pruned, then occurs twice and is not lost. If it returns an error, the text has no end.
func (x *Export) Write(ctx context.Context, to io.Writer) error {
	x.to = to
	err := x.write(line{Version: exportVersion})
	if err == nil && x.Audit != nil {
		err = x.writeDerived(ctx)
	}
	if err == nil {
		err = x.writeChain(ctx)
	}
	if err == nil {
		err = x.write(line{End: &x.end})
	}
	return err
}

func (x *Export) write(l line) error {
	text, err := l.text()
	if err == nil {
		_, err = x.to.Write(text)
	}
	return err
}

func (x *Export) writeDerived(ctx context.Context) error {
	q := rota.AuditQuery{Derived: true, Limit: exportPage}
	for {
		page, err := x.Audit(ctx, q)
		if err != nil {
			return err
		}
		for i := range page.Entries {
			if err := x.write(line{entryLine: newEntryLine(&page.Entries[i])}); err != nil {
				return err
			}
			x.end.Derived++
		}
		if q.Before = page.Next; !page.More {
			return nil
		}
	}
}

// writeChain writes the entries up to the head. It seals first, so that entries of a shared store that are
// committed are included.
func (x *Export) writeChain(ctx context.Context) error {
	for sealed := 1; sealed > 0; {
		var err error
		if sealed, err = x.Chain.SealAudit(ctx, rota.SealMax); err != nil {
			return err
		}
	}
	state, err := x.Chain.AuditState(ctx)
	if err != nil {
		return err
	}
	head, err := x.Head(ctx)
	if err != nil {
		return err
	}
	if err := x.write(line{Chain: &chainLine{newAnchorLine(&state.Anchor), head}}); err != nil {
		return err
	}
	last := state.Head.Seq
	if head != nil {
		last = max(last, head.Seq) // the head was signed after the state was read
	}
	return x.writeSealed(ctx, state.Anchor.Seq, last)
}

func (x *Export) writeSealed(ctx context.Context, after, last int64) error {
	for after < last {
		page, err := x.Chain.SealedAudit(ctx, after, exportPage)
		if err != nil || len(page) == 0 {
			return err
		}
		if page[0].Seq > after+1 {
			if err := x.checkPruned(ctx, after); err != nil {
				return err
			}
		}
		for i := range page {
			if page[i].Seq > last {
				return nil
			}
			if err := x.write(line{entryLine: newSealedLine(&page[i])}); err != nil {
				return err
			}
			x.end.Sealed++
		}
		after = page[len(page)-1].Seq
	}
	return nil
}

// checkPruned returns an error if retention has removed entries that were not written yet.
func (x *Export) checkPruned(ctx context.Context, after int64) error {
	state, err := x.Chain.AuditState(ctx)
	if err == nil && state.Anchor.Seq > after {
		err = &rota.Error{Code: rota.Conflict, Act: "export audit", Reason: "retention removed entries that were not exported yet", Hint: "export again"}
	}
	return err
}
