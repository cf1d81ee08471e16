package auditchain

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/rotajobs/rota"
)

// An export is text of JSON objects, one a line: a header; the entries that are derived from kept jobs and not
// sealed; the state of the chain; the sealed entries in the order of the chain; the end, without which the
// file is incomplete. docs/reference/audit.md describes the fields.

// exportVersion is the version of the format.
const exportVersion = 1

// line is any line of an export.
type line struct {
	Version int        `json:"rota_audit_export,omitempty"` // of the header
	Chain   *chainLine `json:"chain,omitempty"`
	End     *endLine   `json:"end,omitempty"`
	entryLine
}

// kind returns what a line is.
func (l *line) kind() string {
	switch {
	case l.Version != 0:
		return kindHeader
	case l.Chain != nil:
		return kindChain
	case l.End != nil:
		return kindEnd
	}
	return kindEntry
}

const (
	kindHeader = "header"
	kindChain  = "chain"
	kindEntry  = "entry"
	kindEnd    = "end"
)

// text returns the one text of a line, with its end. Decoding accepts other texts with the same content: a second
// spelling of a field, a field twice, a time in another zone. VerifyExport refuses them, since another program could
// show something else of them.
func (l *line) text() ([]byte, error) {
	var only line // what a line of its kind has
	switch l.kind() {
	case kindHeader:
		only.Version = l.Version
	case kindChain:
		anchor, err := l.Chain.Anchor.anchor()
		if err != nil {
			return nil, err
		}
		only.Chain = &chainLine{newAnchorLine(&anchor), nil}
		if l.Chain.Head != nil {
			head := *l.Chain.Head
			head.At = head.At.UTC().Truncate(time.Microsecond)
			only.Chain.Head = &head
		}
	case kindEnd:
		only.End = l.End
	case kindEntry:
		sealed := l.sealed()
		if only.entryLine = newSealedLine(&sealed); l.Seq == 0 {
			only.entryLine = newEntryLine(l.entry())
		}
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false) // the hashes cover the bytes of the changes
	err := encoder.Encode(only)
	return escapeUnprintable(text.Bytes()), err
}

// escapeUnprintable escapes characters that a terminal does not show, or that change how it shows others.
func escapeUnprintable(text []byte) []byte {
	if !bytes.ContainsFunc(text, isUnprintable) {
		return text
	}
	var b []byte
	for _, r := range string(text) {
		if !isUnprintable(r) {
			b = utf8.AppendRune(b, r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			b = fmt.Appendf(b, `\u%04x`, unit)
		}
	}
	return b
}

// isUnprintable reports whether a character of a line is escaped. The encoder has escaped those below 0x7f, except for
// the end of the line.
func isUnprintable(r rune) bool { return r >= 0x7f && !unicode.IsPrint(r) }

// chainLine is the state of the chain.
type chainLine struct {
	Anchor anchorLine      `json:"anchor"`
	Head   *rota.AuditHead `json:"head"` // nil: no node has signed one
}

type anchorLine struct {
	Seq           int64          `json:"seq"`
	Hash          rota.AuditHash `json:"hash"`
	RemovedBefore stamp          `json:"removed_before"`
	Key           string         `json:"key,omitempty"`
	Signature     string         `json:"signature,omitempty"`
}

type endLine struct {
	Sealed  int64 `json:"sealed"`
	Derived int64 `json:"derived"`
}

// entryLine is an entry. Fields that are empty are left out.
type entryLine struct {
	Seq         int64           `json:"seq,omitempty"` // 0: not sealed
	Hash        *rota.AuditHash `json:"hash,omitempty"`
	ID          rota.ID         `json:"id,omitzero"`
	Missing     bool            `json:"missing,omitempty"` // the chain has the entry, and the audit does not
	At          *stamp          `json:"at,omitempty"`
	Actor       string          `json:"actor,omitempty"`
	Act         string          `json:"act,omitempty"`
	Subject     string          `json:"subject,omitempty"`
	Schedule    string          `json:"schedule,omitempty"`
	JobID       rota.ID         `json:"job_id,omitzero"`
	ExecutionID rota.ID         `json:"execution_id,omitzero"`
	RunID       rota.ID         `json:"run_id,omitzero"`
	Outcome     string          `json:"outcome,omitempty"`
	Detail      string          `json:"detail,omitempty"`
	Changes     json.RawMessage `json:"changes,omitempty"`
	ChangesText string          `json:"changes_text,omitempty"` // instead of Changes
}

// stamp is a time with microseconds. A time that RFC 3339 cannot express is a number of microseconds.
type stamp struct{ time.Time }

func (s stamp) MarshalJSON() ([]byte, error) {
	if y := s.UTC().Year(); y < 0 || y > 9999 {
		return strconv.AppendInt(nil, s.UnixMicro(), 10), nil
	}
	return json.Marshal(s.UTC().Truncate(time.Microsecond))
}

func (s *stamp) UnmarshalJSON(text []byte) error {
	if n, err := strconv.ParseInt(string(text), 10, 64); err == nil {
		s.Time = time.UnixMicro(n).UTC()
		return nil
	}
	return json.Unmarshal(text, &s.Time)
}

func newAnchorLine(a *rota.AuditAnchor) anchorLine {
	return anchorLine{a.Seq, a.Hash, stamp{a.RemovedBefore}, hex.EncodeToString(a.Key), hex.EncodeToString(a.Signature)}
}

func (l *anchorLine) anchor() (a rota.AuditAnchor, err error) {
	a = rota.AuditAnchor{AuditPoint: rota.AuditPoint{Seq: l.Seq, Hash: l.Hash}, RemovedBefore: l.RemovedBefore.Time}
	if a.Key, err = hex.DecodeString(l.Key); err != nil {
		return a, rota.Invalidf("key", "is not hexadecimal")
	}
	if a.Signature, err = hex.DecodeString(l.Signature); err != nil {
		return a, rota.Invalidf("signature", "is not hexadecimal")
	}
	return a, nil
}

func newEntryLine(e *rota.AuditEntry) entryLine {
	l := entryLine{
		ID: e.ID, At: &stamp{e.At}, Actor: e.Actor, Act: e.Act, Subject: e.Subject, Schedule: e.Schedule, JobID: e.JobID, ExecutionID: e.ExecutionID,
		RunID: e.RunID, Outcome: e.Outcome, Detail: strings.ToValidUTF8(e.Detail, "\uFFFD"), // a handler may end with any error
	}
	if keepsBytes(e.Changes) {
		l.Changes = e.Changes
	} else {
		l.ChangesText = string(e.Changes)
	}
	return l
}

// keepsBytes reports whether JSON has the same bytes after it was encoded and shown. The hash covers the bytes.
func keepsBytes(text json.RawMessage) bool {
	var compact bytes.Buffer
	return json.Compact(&compact, text) == nil && bytes.Equal(compact.Bytes(), text) && utf8.Valid(text) &&
		!bytes.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
}

func newSealedLine(e *rota.SealedEntry) entryLine {
	l := entryLine{ID: e.ID, Missing: true}
	if e.Entry != nil {
		l = newEntryLine(e.Entry)
	}
	l.Seq, l.Hash = e.Seq, &e.Hash
	return l
}

// sealed returns the sealed entry of a line.
func (l *entryLine) sealed() rota.SealedEntry {
	e := rota.SealedEntry{AuditPoint: rota.AuditPoint{Seq: l.Seq}, ID: l.ID}
	if l.Hash != nil {
		e.Hash = *l.Hash
	}
	if !l.Missing {
		e.Entry = l.entry()
	}
	return e
}

// entry returns the entry of a line.
func (l *entryLine) entry() *rota.AuditEntry {
	e := &rota.AuditEntry{
		ID: l.ID, Actor: l.Actor, Act: l.Act, Subject: l.Subject, Schedule: l.Schedule, JobID: l.JobID, ExecutionID: l.ExecutionID, RunID: l.RunID,
		Outcome: l.Outcome, Detail: l.Detail, Changes: l.Changes,
	}
	if l.At != nil {
		e.At = l.At.Time
	}
	if l.ChangesText != "" {
		e.Changes = json.RawMessage(l.ChangesText)
	}
	return e
}
