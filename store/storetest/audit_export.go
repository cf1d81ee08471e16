package storetest

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/auditchain"
)

func testAuditExport(t *testing.T, h Harness) {
	stories := []namedStory{
		{"an export has every entry and is intact", exportIntact},
		{"an export of many pages is intact", exportPages},
		{"an export continues after the anchor", exportPruned},
		{"an export of a changed store has the same fault", exportOfChanged},
		{"an entry with any text is exported as it is sealed", exportTexts},
		{"only entries of kept jobs are listed as derived", derivedListed},
	}
	for _, one := range exportTamperings {
		stories = append(stories, namedStory{"export: " + one.name, func(y *story) { tamperExport(y, one) }})
	}
	runStories(t, h, stories)
}

// export writes an export that the key of the node signs.
func (y *story) export() string {
	y.Helper()
	chain := y.chain()
	var text bytes.Buffer
	export := auditchain.Export{Chain: chain, Audit: y.s.Audit, Head: func(ctx context.Context) (*rota.AuditHead, error) {
		state, err := chain.AuditState(ctx)
		head := rota.SignAuditHead(nodeKey, "local", state, y.now)
		return &head, err
	}}
	if err := export.Write(y.ctx, &text); err != nil {
		y.Fatalf("export: %v", err)
	}
	return text.String()
}

func (y *story) verifyExport(text string, trust rota.AuditTrust) auditchain.ExportReport {
	y.Helper()
	report, err := auditchain.VerifyExport(strings.NewReader(text), trust)
	return must(y, "verify export", report, err)
}

// wantExport wants an export without a fault.
func (y *story) wantExport(text string, sealed, derived int64) {
	y.Helper()
	report := y.verifyExport(text, rota.AuditTrust{Keys: []rota.AuditKey{publicKey(nodeKey)}})
	if report.Fault != nil {
		y.Errorf("the export has a fault: %s\n%s", report.Fault, text)
	}
	want(y, "sealed", report.Checked, sealed)
	want(y, "derived", report.Derived, derived)
}

func exportIntact(y *story) {
	y.limitChanges(3)
	j := y.running(rota.NewJob{})
	y.complete(j)
	text := y.export()
	y.wantExport(text, y.auditState().Head.Seq, 2)
	listed, err := y.s.Audit(y.ctx, rota.AuditQuery{Limit: rota.PageMax})
	for _, e := range must(y, "audit", listed, err).Entries {
		want(y, "lines of the entry "+e.Act, strings.Count(text, `"id":"`+e.ID.String()+`"`), 1)
	}
	y.prune(j.ID)
	y.wantExport(y.export(), y.auditState().Head.Seq, 0)
}

func exportPages(y *story) {
	c := y.enqueueCommand(make([]rota.NewJob, 250)...)
	for i := range c.Jobs {
		c.Jobs[i].Type = "mail"
	}
	var batch []rota.Command
	for _, e := range do[*rota.Enqueued](y, c).Jobs {
		batch = append(batch, y.cancelCommand(e.Job.ID))
	}
	y.send(batch...)
	y.limitChanges(1)
	y.wantExport(y.export(), y.auditState().Head.Seq, 250)
}

func exportPruned(y *story) {
	y.limitChanges(4)
	all := y.sealed()
	removed, err := y.chain().PruneAudit(y.ctx, all[2].Entry.At, 10, signWith(nodeKey))
	want(y, "removed", must(y, "prune audit", removed, err), 2)
	y.wantExport(y.export(), 2, 0)
}

func exportOfChanged(y *story) {
	if y.h.Tamper == nil {
		y.Skip("the harness cannot tamper with a store")
	}
	a := newAttack(y)
	a.set(3, `actor = 'eve'`)
	a.delete(5)
	fault := y.verifyExport(y.export(), rota.AuditTrust{}).Fault
	want(y, "fault", *fault, *y.verifyAudit().Fault)
	a.Exec(`UPDATE rota_audit SET actor = 'ada' WHERE actor = 'eve'`)
	a.set(3, "actor = "+quotedText(a.all[2].Entry.Actor))
	fault = y.verifyExport(y.export(), rota.AuditTrust{}).Fault
	want(y, "second fault", *fault, *y.verifyAudit().Fault)
	want(y, "kind", fault.Kind, rota.AuditRemoved)
}

func quotedText(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

func exportTexts(y *story) {
	for _, text := range []string{"a<b>&c", "\u2028\u2029", "\u202e\u0085\u009b", `quote " and \ backslash`, "\t\n\r", "é日本😀", "\u00a0\U000e0001\ufffd\x7f"} {
		y.advance(1_000_000)
		c := &rota.PutTemplate{Meta: y.ids.meta(), Name: "texts", Spec: rota.TemplateSpec{Type: "mail", Description: text, Params: rota.EncodeSpec(map[string]string{"t": text})}}
		do[*rota.TemplatePut](y, c)
	}
	y.wantExport(y.export(), y.auditState().Head.Seq, 0)
}

func derivedListed(y *story) {
	y.limitChanges(2)
	y.complete(y.running(rota.NewJob{}))
	page, err := y.s.Audit(y.ctx, rota.AuditQuery{Derived: true})
	var acts []string
	for _, e := range must(y, "audit", page, err).Entries {
		acts = append(acts, e.Act)
	}
	want(y, "acts", strings.Join(acts, " "), "JOB_EXECUTED JOB_CREATED")
	_, err = y.s.Audit(y.ctx, rota.AuditQuery{Derived: true, Subject: "limits"})
	want(y, "code with a subject", rota.CodeOf(err), rota.Invalid)
}

// exportTampering is one way to change the lines of an export: header, one derived entry, the chain, six sealed
// entries, the end.
type exportTampering struct {
	name   string
	change func(lines []string) []string
	kind   string
	seq    int64
}

const (
	exportDerived = 1
	exportChain   = 2
	exportFirst   = 3
	exportEnd     = exportFirst + chainLength
)

// replace replaces a text in one line.
func replace(n int, old, new string) func([]string) []string {
	return func(lines []string) []string {
		if !strings.Contains(lines[n], old) {
			panic(fmt.Sprintf("line %d has no %s: %s", n+1, old, lines[n]))
		}
		lines[n] = strings.Replace(lines[n], old, new, 1)
		return lines
	}
}

// without removes lines.
func without(from, to int) func([]string) []string {
	return func(lines []string) []string { return append(lines[:from:from], lines[to:]...) }
}

var exportTamperings = []exportTampering{
	{"actor changed", replace(exportFirst+2, `"act":"LIMITS`, `"act":"TYPE`), rota.AuditChanged, 3},
	{"first entry removed", without(exportFirst, exportFirst+1), rota.AuditCutOff, 1},
	{"entry removed", without(exportFirst+2, exportFirst+3), rota.AuditRemoved, 3},
	{"last entry removed", without(exportEnd-1, exportEnd), rota.AuditCutOff, 6},
	{"end removed", without(exportEnd, exportEnd+1), rota.AuditCutOff, 7},
	{"everything after the third entry removed", without(exportFirst+3, exportEnd+1), rota.AuditCutOff, 4},
	{"chain removed", without(exportChain, exportChain+1), rota.AuditChanged, 1},
	{"cut within a line", func(lines []string) []string {
		lines[exportFirst+3] = lines[exportFirst+3][:20]
		return lines[:exportFirst+4]
	}, rota.AuditChanged, 4},
	{"two entries exchanged", func(lines []string) []string {
		lines[exportFirst+2], lines[exportFirst+3] = lines[exportFirst+3], lines[exportFirst+2]
		return lines
	}, rota.AuditRemoved, 3},
	{"entry repeated", func(lines []string) []string {
		return append(lines[:exportFirst+3:exportFirst+3], lines[exportFirst+2:]...)
	}, rota.AuditInserted, 3},
	{"unknown field", replace(exportFirst+2, `{"seq"`, `{"comment":"x","seq"`), rota.AuditChanged, 3},
	{"second value in a line", replace(exportFirst+2, `{"seq":3`, `{"seq":3}{"seq":3`), rota.AuditChanged, 3},
	{"text after the end", func(lines []string) []string { return append(lines, `{"seq":7}`) }, rota.AuditInserted, 7},
	{"signature of the head removed", replace(exportChain, `"signature":"`, `"signature":"00`), rota.AuditChanged, 1},
	{"head changed", replace(exportChain, `"seq":6`, `"seq":5`), rota.AuditChanged, 1},
	{"head removed", func(lines []string) []string {
		before, _, _ := strings.Cut(lines[exportChain], `"head":`)
		lines[exportChain] = before + `"head":null}}`
		return lines
	}, rota.AuditChanged, 1},
	{"derived entry removed", without(exportDerived, exportDerived+1), rota.AuditRemoved, 0},
	{"derived entry inserted", func(lines []string) []string {
		return append(lines[:exportChain:exportChain], lines[exportDerived:]...)
	}, rota.AuditRemoved, 0},
	{"second spelling of a field", replace(exportFirst+2, `"act":"LIMITS_MODIFIED"`, `"act":"LOGIN","ACT":"LIMITS_MODIFIED"`), rota.AuditChanged, 3},
	{"field twice", replace(exportFirst+2, `"act":"LIMITS_MODIFIED"`, `"act":"LOGIN","act":"LIMITS_MODIFIED"`), rota.AuditChanged, 3},
	{"time in another zone", replace(exportFirst+2, `Z"`, `+00:00"`), rota.AuditChanged, 3},
	{"derived entry in another spelling", replace(exportDerived, `"act"`, `"Act"`), rota.AuditChanged, 1},
	{"entry in the line of the chain", replace(exportChain, `{"chain"`, `{"act":"LOGIN","chain"`), rota.AuditChanged, 1},
	{"entry in the last line", replace(exportEnd, `{"end"`, `{"act":"LOGIN","end"`), rota.AuditChanged, 7},
	{"entry without a number in the chain", replace(exportFirst+2, `"seq":3,`, ``), rota.AuditChanged, 3},
}

func tamperExport(y *story, how exportTampering) {
	y.limitChanges(chainLength)
	y.enqueue(rota.NewJob{Type: "mail"})
	text := y.export()
	y.wantExport(text, chainLength, 1)
	lines := how.change(strings.Split(strings.TrimSuffix(text, "\n"), "\n"))
	trust := rota.AuditTrust{Keys: []rota.AuditKey{publicKey(nodeKey)}}
	fault := y.verifyExport(strings.Join(lines, "\n")+"\n", trust).Fault
	if fault == nil {
		y.Fatal("the check found nothing")
	}
	want(y, "kind", fault.Kind, how.kind)
	want(y, "first entry", fault.Seq, how.seq)
}
