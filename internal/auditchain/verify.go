package auditchain

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/rotajobs/rota"
)

// lineMax is the longest line of an export, in bytes.
const lineMax = 16 << 20

// ExportReport is the result of a check of an export.
type ExportReport struct {
	rota.AuditReport
	Signed  *rota.AuditHead // head in the file; nil: none
	Derived int64           // entries that are not sealed, since they are derived from kept jobs
}

// VerifyExport checks an export as the store checks its chain. It returns Invalid if the text is not an export,
// and a fault if it was changed after it was written. It reads one line at a time.
func VerifyExport(from io.Reader, trust rota.AuditTrust) (ExportReport, error) {
	c := &exportCheck{lines: bufio.NewReaderSize(from, 64<<10), trust: trust}
	first, err := c.next()
	if err != nil && err != io.EOF && err != errBroken {
		return c.report, err
	}
	if err == errBroken && first != nil && first.Version != 0 { // it is a header, with other fields or in another spelling
		return c.report, c.broken(err, 1)
	}
	if err != nil || first.Version == 0 {
		return c.report, rota.Invalidf("file", "is not an export of the whole audit; rota audit export without a filter writes one")
	}
	if first.Version != exportVersion {
		return c.report, rota.Invalidf("file", "has version %d of the format; this program reads version %d", first.Version, exportVersion)
	}
	err = c.derived()
	if err == nil && c.report.Fault == nil {
		err = c.sealed()
	}
	return c.report, err
}

// exportCheck is a check of an export.
type exportCheck struct {
	lines  *bufio.Reader
	number int // of the last line
	trust  rota.AuditTrust
	report ExportReport
}

// errBroken is the error of a line that Export did not write.
var errBroken = errors.New("is not a line of an export")

// next reads a line. It returns io.EOF at the end of the text, and errBroken with the line if only its text is not the
// written one.
func (c *exportCheck) next() (*line, error) {
	var text []byte
	c.number++
	for {
		part, err := c.lines.ReadSlice('\n')
		text = append(text, part...)
		switch {
		case len(text) > lineMax:
			return nil, errBroken
		case err == bufio.ErrBufferFull:
			continue
		case err == io.EOF && len(text) == 0:
			c.number--
			return nil, io.EOF
		case err == io.EOF:
			return nil, errBroken // the last line was cut off
		case err != nil:
			return nil, err
		}
		break
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	l := &line{}
	if err := decoder.Decode(l); err != nil {
		return nil, errBroken
	}
	if written, err := l.text(); err != nil || !bytes.Equal(written, text) {
		return l, errBroken
	}
	return l, nil
}

// derived reads the derived entries, and the state of the chain after them.
func (c *exportCheck) derived() error {
	for {
		l, err := c.next()
		switch {
		case err != nil:
			return c.broken(err, 1)
		case l.kind() == kindEntry && l.Seq == 0:
			c.report.Derived++
		case l.kind() == kindChain:
			return c.chain(l.Chain)
		default:
			return c.broken(errBroken, 1)
		}
	}
}

// chain checks the anchor and the signed head.
func (c *exportCheck) chain(l *chainLine) (err error) {
	r := &c.report
	if r.Anchor, err = l.Anchor.anchor(); err != nil || r.Anchor.Seq < 0 {
		return c.broken(errBroken, 1)
	}
	r.Head, r.Signed = r.Anchor.AuditPoint, l.Head
	first := r.Anchor.Seq + 1
	fault := func(detail string, args ...any) {
		r.Fault = &rota.AuditFault{Kind: rota.AuditChanged, Seq: first, Detail: fmt.Sprintf(detail, args...)}
	}
	switch h := l.Head; {
	case h == nil && (c.trust.Signed || len(c.trust.Keys) > 0):
		fault("the export has no signed head")
	case h == nil:
	case !h.Valid():
		fault("the head of the export, entry %d, has a wrong signature", h.Seq)
	case len(c.trust.Keys) > 0 && !slices.Contains(c.trust.Keys, h.Key):
		fault("the head of the export, entry %d, is signed with the key %s, which is not known here: "+rota.AddKey, h.Seq, h.Key)
	default:
		c.trust.Add(h)
	}
	if r.Fault == nil {
		r.Fault = c.trust.CheckAnchor(&r.Anchor)
	}
	return nil
}

// sealed checks the entries of the chain and the end.
func (c *exportCheck) sealed() error {
	r := &c.report
	chain := New(r.Anchor.AuditPoint, c.trust.Points)
	count, more := int64(0), true
	for {
		l, err := c.next()
		if err == nil && l.kind() == kindEnd {
			return c.finish(chain, l.End, count)
		}
		if err == nil && (l.kind() != kindEntry || l.Seq <= 0) {
			err = errBroken
		}
		if err != nil {
			fault := chain.Finish()
			if err = c.broken(err, chain.Last().Seq+1); err == nil && fault != nil && fault.Kind != rota.AuditCutOff {
				r.Fault = fault // it is at an earlier place
			}
			return err
		}
		count++
		if more {
			more = chain.Next(l.sealed())
			r.Checked, r.Head = chain.Checked(), chain.Last()
		}
	}
}

// finish checks that the file has all that was written, and nothing after the end.
func (c *exportCheck) finish(chain *Verifier, end *endLine, count int64) error {
	r := &c.report
	r.Fault = chain.Finish()
	next := chain.Last().Seq + 1
	_, err := c.next()
	switch {
	case err != nil && err != io.EOF && err != errBroken:
		return err
	case r.Fault != nil:
	case r.Signed != nil && r.Head.Seq > r.Signed.Seq:
		r.Fault = &rota.AuditFault{Kind: rota.AuditInserted, Seq: r.Signed.Seq + 1, Detail: fmt.Sprintf("the signed head of the export ends with entry %d", r.Signed.Seq)}
	case end.Sealed != count:
		r.Fault = &rota.AuditFault{Kind: rota.AuditCutOff, Seq: next, Detail: fmt.Sprintf("the export had %d sealed entries when it was written, and now has %d", end.Sealed, count)}
	case end.Derived != r.Derived:
		r.Fault = &rota.AuditFault{Kind: rota.AuditRemoved, Detail: fmt.Sprintf("the export had %d derived entries when it was written, and now has %d", end.Derived, r.Derived)}
	case err != io.EOF:
		r.Fault = &rota.AuditFault{Kind: rota.AuditInserted, Seq: next, Detail: "the export continues after its end"}
	}
	return nil
}

// broken reports that the text is damaged before an entry. Other errors are those of reading.
func (c *exportCheck) broken(err error, seq int64) error {
	switch {
	case err == io.EOF:
		c.report.Fault = &rota.AuditFault{Kind: rota.AuditCutOff, Seq: seq, Detail: fmt.Sprintf("the export ends after line %d without its last line", c.number)}
	case err == errBroken:
		c.report.Fault = &rota.AuditFault{Kind: rota.AuditChanged, Seq: seq, Detail: fmt.Sprintf("line %d %s", c.number, err)}
	default:
		return err
	}
	return nil
}
