package auditchain

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

var fuzzKey = ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))

// exportOf returns an export of a chain with some entries.
func exportOf(t testing.TB, entries ...rota.AuditEntry) string {
	t.Helper()
	var text bytes.Buffer
	export := Export{to: &text}
	write := func(l line) {
		if err := export.write(l); err != nil {
			t.Fatal(err)
		}
	}
	var sealed []rota.SealedEntry
	state := rota.AuditState{}
	for i := range entries {
		state.Head.Seq++
		state.Head.Hash = entries[i].ChainHash(state.Head.Seq, state.Head.Hash)
		sealed = append(sealed, rota.SealedEntry{AuditPoint: state.Head, ID: entries[i].ID, Entry: &entries[i]})
	}
	head := rota.SignAuditHead(fuzzKey, "local", state, time.UnixMicro(9))
	write(line{Version: exportVersion})
	write(line{Chain: &chainLine{newAnchorLine(&state.Anchor), &head}})
	for i := range sealed {
		write(line{entryLine: newSealedLine(&sealed[i])})
	}
	write(line{End: &endLine{Sealed: int64(len(sealed))}})
	return text.String()
}

var fuzzEntries = []rota.AuditEntry{
	{ID: rota.ID{1}, At: time.UnixMicro(1), Actor: "ada", Act: rota.AuditLogin, Outcome: rota.AuditOK, Detail: "a<b>\u2028"},
	{ID: rota.ID{2}, At: time.UnixMicro(-1 << 62), Act: rota.AuditGranted, Changes: json.RawMessage(`{ "spaces": 1}`)},
	{ID: rota.ID{4}, At: time.UnixMicro(2), Act: rota.AuditGranted, Changes: json.RawMessage(`{"y":1}`)},
	{ID: rota.ID{3}, At: time.UnixMicro(3), JobID: rota.ID{9}, RunID: rota.ID{7}, Act: rota.AuditRunAs, Changes: json.RawMessage(`{"x":{"new":"\u0000é"}}`)},
}

// otherSpellings are texts that decode to the same content as the written one, or to content that no line has.
var otherSpellings = []struct{ name, old, new string }{
	{"second spelling of a field", `"actor":"ada"`, `"actor":"mallory","ACTOR":"ada"`},
	{"field twice", `"actor":"ada"`, `"actor":"mallory","actor":"ada"`},
	{"upper case", `"actor":"ada"`, `"Actor":"ada"`},
	{"escaped letter", `"actor":"ada"`, `"actor":"\u0061da"`},
	{"changes twice", `"changes_text":`, `"changes":{"password":[null,"eve"]},"changes_text":`},
	{"changes as text", `"changes":{"y":1}`, `"changes_text":"{\"y\":1}"`},
	{"space", `,"actor"`, `, "actor"`},
	{"another zone", `"at":"1970-01-01T00:00:00.000001Z"`, `"at":"1970-01-01T00:00:00.000001+00:00"`},
	{"another hour", `"at":"1970-01-01T00:00:00.000001Z"`, `"at":"1970-01-01T02:00:00.000001+02:00"`},
	{"finer time", `"at":"1970-01-01T00:00:00.000001Z"`, `"at":"1970-01-01T00:00:00.0000010Z"`},
	{"time as a number", `"at":"1970-01-01T00:00:00.000001Z"`, `"at":1`},
	{"head in another zone", `"at":"1970-01-01T00:00:00.000009Z"`, `"at":"1970-01-01T02:00:00.000009+02:00"`},
	{"field of an entry in the header", `"rota_audit_export":1`, `"rota_audit_export":1,"actor":"mallory","act":"USER_CREATED"`},
	{"field of an entry in the chain", `{"chain":`, `{"actor":"mallory","chain":`},
	{"field of an entry in the end", `{"end":`, `{"seq":3,"actor":"mallory","end":`},
	{"chain in the end", `{"end":`, `{"chain":null,"end":`},
	{"missing in a line that has an entry", `"act":"LOGIN"`, `"missing":false,"act":"LOGIN"`},
	{"empty field", `"act":"LOGIN"`, `"act":"LOGIN","subject":""`},
	{"unknown field", `"act":"LOGIN"`, `"act":"LOGIN","comment":"x"`},
	{"line end of Windows", "}\n", "}\r\n"},
	{"empty line", "}\n", "}\n\n"},
}

// TestOtherSpellingOfAnExportIsAFault: a program that reads the file with another decoder could show something else than
// what was checked.
func TestOtherSpellingOfAnExportIsAFault(t *testing.T) {
	text := exportOf(t, fuzzEntries...)
	if report, err := VerifyExport(strings.NewReader(text), rota.AuditTrust{}); err != nil || report.Fault != nil {
		t.Fatal(err, report.Fault)
	}
	for _, one := range otherSpellings {
		other := strings.Replace(text, one.old, one.new, 1)
		if other == text {
			t.Fatalf("%s: the export has no %s:\n%s", one.name, one.old, text)
		}
		report, err := VerifyExport(strings.NewReader(other), rota.AuditTrust{})
		if err != nil || report.Fault == nil {
			t.Errorf("%s: the check found nothing: %v", one.name, err)
		}
	}
}

// FuzzVerifyExport checks any text. What is intact with the key of the node has the chain that the node has signed.
func FuzzVerifyExport(f *testing.F) {
	text := exportOf(f, fuzzEntries...)
	f.Add([]byte(text))
	f.Add([]byte(strings.Replace(text, "ada", "eve", 1)))
	for _, one := range otherSpellings {
		f.Add([]byte(strings.Replace(text, one.old, one.new, 1)))
	}
	f.Add([]byte(text[:len(text)/2]))
	f.Add([]byte(`{"rota_audit_export":1}` + "\n" + `{"chain":{"anchor":{"seq":-1}}}` + "\n"))
	f.Add([]byte("{\"rota_audit_export\":1}\n{\"id\":null}\n\n[]"))
	trust := rota.AuditTrust{Keys: []rota.AuditKey{rota.AuditKey(fuzzKey.Public().(ed25519.PublicKey))}}
	signed, err := VerifyExport(strings.NewReader(text), trust)
	if err != nil || signed.Fault != nil {
		f.Fatal(err, signed.Fault)
	}
	written := text
	f.Fuzz(func(t *testing.T, text []byte) {
		report, err := VerifyExport(bytes.NewReader(text), trust)
		switch {
		case err != nil && rota.CodeOf(err) != rota.Invalid:
			t.Errorf("%v", err)
		case err == nil && report.Fault == nil && (report.Head != signed.Head || report.Checked != signed.Checked):
			t.Errorf("the head is %+v after %d entries, and nobody has signed it", report.Head, report.Checked)
		case err == nil && report.Fault == nil && report.Derived == 0 && reflect.DeepEqual(report.Anchor, signed.Anchor) && string(text) != written:
			t.Errorf("a text that was not written is intact, with the same content:\n%s", text)
		}
		_, _ = VerifyExport(bytes.NewReader(text), rota.AuditTrust{})
	})
}

// FuzzExportedEntry exports an entry with any texts: the check of the export computes the same hash.
func FuzzExportedEntry(f *testing.F) {
	f.Add("ada", "job 7", "a\u0000\u2028\u202e<>&\"\\", `{"x": 1}`, int64(-1<<63))
	f.Add("", "\t\r\n", "é", `{"x":"\u009b"}`, int64(1<<62))
	f.Fuzz(func(t *testing.T, actor, subject, detail, changes string, at int64) {
		for _, text := range []*string{&actor, &subject, &detail, &changes} {
			*text = strings.ToValidUTF8(*text, "?") // a store has no other texts
		}
		e := rota.AuditEntry{ID: rota.ID{1}, At: time.UnixMicro(at), Actor: actor, Act: rota.AuditLogin, Subject: subject, Detail: detail}
		if changes != "" {
			e.Changes = json.RawMessage(changes)
		}
		text := exportOf(t, e)
		if report, err := VerifyExport(strings.NewReader(text), rota.AuditTrust{}); err != nil || report.Fault != nil {
			t.Errorf("%v, %v:\n%s", err, report.Fault, text)
		}
	})
}

// brokenReader fails after some bytes.
type brokenReader struct{ from *strings.Reader }

var errRead = errors.New("the disk is broken")

func (b brokenReader) Read(p []byte) (int, error) {
	if b.from.Len() == 0 {
		return 0, errRead
	}
	return b.from.Read(p)
}

// TestFileThatCannotBeReadIsNoFault: an error of reading is not tampering.
func TestFileThatCannotBeReadIsNoFault(t *testing.T) {
	text := exportOf(t, fuzzEntries...)
	lines := strings.SplitAfter(text, "\n")
	for n := range lines {
		report, err := VerifyExport(brokenReader{strings.NewReader(strings.Join(lines[:n], ""))}, rota.AuditTrust{})
		if !errors.Is(err, errRead) || report.Fault != nil {
			t.Errorf("after %d lines: %v, %v", n, err, report.Fault)
		}
	}
}

// TestDerivedEntryWithBadTextIsExported exports the error of a handler that is not UTF-8.
func TestDerivedEntryWithBadTextIsExported(t *testing.T) {
	for _, detail := range []string{"a\xff\xfeb", "a\u202e\u0085\U000e0001\x7f\ufffd"} {
		var text bytes.Buffer
		export := Export{to: &text}
		entry := rota.AuditEntry{ID: rota.ID{1}, Act: rota.AuditJobFailed, Detail: detail}
		for _, l := range []line{{Version: exportVersion}, {entryLine: newEntryLine(&entry)}, {Chain: &chainLine{}}, {End: &endLine{Derived: 1}}} {
			if err := export.write(l); err != nil {
				t.Fatal(err)
			}
		}
		report, err := VerifyExport(&text, rota.AuditTrust{})
		if err != nil || report.Fault != nil || report.Derived != 1 {
			t.Errorf("%q: %v, %v", detail, err, report.Fault)
		}
	}
}
