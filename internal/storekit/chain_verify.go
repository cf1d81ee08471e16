package storekit

import (
	"errors"
	"fmt"
	"math"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/auditchain"
)

const (
	sqlCountAudit = `
SELECT count(*)
FROM rota_audit`
	sqlAuditPlaces = `
SELECT at, id
FROM rota_audit
WHERE (at, id) > ($1, $2)
ORDER BY at, id
LIMIT $3`
)

// VerifyChain checks the chain of the audit, on one snapshot.
func VerifyChain(on Querier, trust rota.AuditTrust) (report rota.AuditReport, err error) {
	report.AuditState, err = ChainState(on)
	if errors.Is(err, errNoAnchor) {
		report.Fault = &rota.AuditFault{Kind: rota.AuditCutOff, Seq: 1, Detail: "the row of the anchor is missing, which says what retention has removed"}
		return report, nil
	}
	if err != nil {
		return report, err
	}
	if report.Fault = trust.CheckAnchor(&report.Anchor); report.Fault != nil {
		return report, nil
	}
	chain := auditchain.New(report.Anchor.AuditPoint, trust.Points)
	if err := eachSealed(on, report.Anchor.Seq, rota.SealMax, chain.Next); err != nil {
		return report, err
	}
	report.Fault, report.Checked = chain.Finish(), chain.Checked()
	if report.Fault == nil {
		report.Fault, err = verifySeals(on, chain.Last(), report.Head)
	}
	if err == nil && report.Fault == nil {
		report.Fault, err = verifyOutside(on, report.Checked)
	}
	return report, err
}

// verifySeals finds a seal that was altered although its hashes are right: a node would sign what it says of the head.
func verifySeals(on Querier, last, head rota.AuditPoint) (*rota.AuditFault, error) {
	fault, err := badSeal(on, math.MaxInt64)
	if err == nil && fault == nil && last != head {
		fault = &rota.AuditFault{
			Kind: rota.AuditChanged, Seq: last.Seq + 1,
			Detail: fmt.Sprintf("the last seal says that the chain ends with entry %d and the hash %s, and its entries end with %d", head.Seq, head.Hash, last.Seq),
		}
	}
	return fault, err
}

// verifyOutside finds entries that were removed before they were sealed, and entries that are neither
// sealed nor unsealed: all others were checked.
func verifyOutside(on Querier, sealed int64) (*rota.AuditFault, error) {
	unsealed, fault, err := verifyUnsealed(on)
	if err != nil || fault != nil {
		return fault, err
	}
	stored := int64(0)
	err = on.Query(Query{SQL: sqlCountAudit, Each: func(r Row) error {
		stored = r.Int(0)
		return nil
	}})
	if err != nil || stored == sealed+unsealed {
		return nil, err
	}
	return findInserted(on)
}

// verifyUnsealed counts the unsealed entries and finds one that is missing.
func verifyUnsealed(on Querier) (count int64, fault *rota.AuditFault, err error) {
	err = eachUnsealed(on, func(ids []rota.ID) error {
		found, err := auditByID(on, ids)
		for _, id := range ids {
			if found[id] == nil && fault == nil && err == nil {
				fault = &rota.AuditFault{Kind: rota.AuditRemoved, ID: id, Detail: "it was not sealed yet"}
			}
		}
		count += int64(len(found))
		return err
	})
	return count, fault, err
}

func eachUnsealed(on Querier, use func([]rota.ID) error) error {
	for place := int64(math.MinInt64); ; {
		rows := 0
		var ids []rota.ID
		err := on.Query(Query{SQL: SQLUnsealed, Args: []any{place, sealsRead}, Each: func(r Row) error {
			rows, place, ids = rows+1, r.Int(0), append(ids, SplitIDs(r.Bytes(1))...)
			return nil
		}})
		if err == nil && len(ids) > 0 {
			err = use(ids)
		}
		if err != nil || rows < sealsRead {
			return err
		}
	}
}

// findInserted finds the oldest entry that is not in the chain. It holds the ids of the chain in memory,
// which happens only after someone tampered with the audit.
func findInserted(on Querier) (*rota.AuditFault, error) {
	known := map[rota.ID]bool{}
	err := eachSealedID(on, func(id rota.ID) { known[id] = true })
	if err == nil {
		err = eachUnsealed(on, func(ids []rota.ID) error {
			for _, id := range ids {
				known[id] = true
			}
			return nil
		})
	}
	at, id := int64(math.MinInt64), rota.ID{}
	for err == nil {
		rows := 0
		var fault *rota.AuditFault
		err = on.Query(Query{SQL: sqlAuditPlaces, Args: []any{at, id, CheckedEvery}, Each: func(r Row) error {
			rows, at, id = rows+1, r.Int(0), r.ID(1)
			if fault == nil && !known[id] {
				fault = &rota.AuditFault{Kind: rota.AuditInserted, ID: id, At: r.Time(0), Detail: "it is in the audit and not in the chain"}
			}
			return nil
		}})
		if fault != nil || rows < CheckedEvery {
			return fault, err
		}
	}
	return nil, err
}

func eachSealedID(on Querier, use func(rota.ID)) error {
	for place := int64(math.MinInt64); ; {
		rows := 0
		err := on.Query(Query{SQL: sqlSeals, Args: []any{place, sealsRead}, Each: func(r Row) error {
			rows, place = rows+1, r.Int(3)
			for _, id := range SplitIDs(r.Bytes(1)) {
				use(id)
			}
			return nil
		}})
		if err != nil || rows < sealsRead {
			return err
		}
	}
}

// chain checks the chain of the audit.
func (in *Inspection) chain() error {
	report, err := VerifyChain(inspected{in.on}, rota.AuditTrust{})
	if err != nil || report.Fault == nil {
		return err
	}
	row := "audit"
	if !report.Fault.ID.IsZero() {
		row += " " + report.Fault.ID.String()
	}
	in.report(rota.Violation{Check: rota.CheckAuditChain, Rows: []string{row}, Detail: report.Fault.String()})
	return nil
}

// inspected executes the queries of the chain on the snapshot of a Verify.
type inspected struct{ Verified }

func (i inspected) Query(queries ...Query) error {
	for _, q := range queries {
		if err := i.Each(q.SQL, q.Each, q.Args...); err != nil {
			return fmt.Errorf("the chain of the audit: %w", err)
		}
	}
	return nil
}
