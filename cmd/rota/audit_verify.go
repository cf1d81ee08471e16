package main

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/internal/apiclient"
	"github.com/rotajobs/rota/internal/auditchain"
)

// auditVerifyOptions holds the flags.
type auditVerifyOptions struct {
	store, file, head string
	keys              []string
}

func newAuditVerifyCommand(a *app) *cobra.Command {
	var opts auditVerifyOptions
	cmd := &cobra.Command{
		Use: "verify", Short: "Check the audit for tampering", Args: noArgs(),
		Long: `Compute the chain of the stored audit entries again and name the first entry that was changed, removed, inserted or cut
off. The command exits with 0 if it found none and with 3 if it did. A running server also compares the chain with its last
signed head, the file audit.head of its data directory.

Someone who has the database can compute a whole chain again. A signed head that was kept elsewhere shows that: give a copy of
audit.head, or several heads, one a line, with --head. --key names a public key that may have signed the heads and the anchor, which
retention leaves; give it once for each node. Without it, the keys of the heads may; without heads, any key may. A server also
believes its own key and those of the setting audit_keys, and no other.

With --store the command checks an SQLite store that no process uses, or a store on PostgreSQL. With --file it checks a file
of rota audit export and needs no server.`,
		Example: "  rota audit verify\n  rota audit verify --head monday.head\n  rota audit verify --store sqlite:rota-data/rota.db --head rota-data/audit.head\n  rota audit verify --file audit.jsonl --head monday.head",
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.verifyAudit(cmd.Context(), opts) },
	}
	flags := cmd.Flags()
	flags.StringVar(&opts.store, "store", "", "`URL` of the store, such as sqlite:rota-data/rota.db or postgres://…")
	flags.StringVar(&opts.file, "file", "", "`FILE` of rota audit export")
	flags.StringVar(&opts.head, "head", "", "`FILE` with signed heads that were kept, one a line")
	flags.StringSliceVar(&opts.keys, "key", nil, "public `KEY` of a node; several are separated by commas")
	refuseEmpty(cmd, "store", "file", "head", "key")
	return cmd
}

func (a *app) verifyAudit(ctx context.Context, opts auditVerifyOptions) error {
	if opts.store != "" && opts.file != "" {
		return usagef("give one of them", "--store and --file cannot be combined")
	}
	trust, heads, err := readTrust(opts)
	if err != nil {
		return err
	}
	found, answer, err := a.auditVerification(ctx, opts, trust, heads)
	if err != nil {
		return err
	}
	var signer rota.AuditKey
	if signer.UnmarshalText([]byte(found.Key)) == nil {
		if err := checkPrivateKeys(trust.Keys, signer); err != nil {
			return err
		}
	}
	if err := a.print(answer, func(w io.Writer) { writeAuditVerification(w, found) }); err != nil || found.Clean {
		return err
	}
	return failf(exitNotClean, tamperedHint(opts, found.Fault), "the audit was tampered with: %s", faultText(found.Fault))
}

// tamperedHint says what else than tampering explains a fault, and what to do.
func tamperedHint(opts auditVerifyOptions, fault *api.AuditFault) string {
	const keep = "keep a copy of the store and of the signed heads for the investigation"
	switch {
	case opts.file != "" && !hasExportEnd(opts.file):
		return "the file has no last line, so it is incomplete: export again with rota audit export; otherwise " + keep
	case opts.file == "" && fault.Kind == rota.AuditCutOff:
		return keep + "; after a restore, move audit.head away: docs/operating.md"
	}
	return keep
}

// hasExportEnd reports whether the last line of a file is the end of an export.
func hasExportEnd(path string) bool {
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	tail := make([]byte, 1<<10) // the end has two numbers
	if info, err := file.Stat(); err == nil {
		tail = tail[:min(info.Size(), int64(len(tail)))]
		_, _ = file.ReadAt(tail, info.Size()-int64(len(tail)))
	}
	lines := bytes.Split(bytes.TrimSuffix(tail, []byte("\n")), []byte("\n"))
	return bytes.HasPrefix(lines[len(lines)-1], []byte(exportEnd)) && json.Valid(lines[len(lines)-1])
}

// checkPrivateKeys refuses keys that are private. Both kinds look alike, so that a private one is found by its public key:
// that of the server, of the export or of a head. The anchor can have others.
func checkPrivateKeys(given []rota.AuditKey, public ...rota.AuditKey) error {
	for _, key := range given {
		of := rota.AuditKey(ed25519.NewKeyFromSeed(key[:]).Public().(ed25519.PublicKey))
		if slices.Contains(public, of) {
			return usagef("give the public key "+of.String()+", and show nobody the file audit.key", "--key is the private key of the file audit.key")
		}
	}
	return nil
}

// readTrust reads the keys and the heads that the user kept, and checks the signatures of the heads.
func readTrust(opts auditVerifyOptions) (trust rota.AuditTrust, heads []rota.AuditHead, err error) {
	for _, text := range opts.keys {
		var key rota.AuditKey
		if err := key.UnmarshalText([]byte(strings.ToLower(text))); err != nil {
			return trust, nil, usagef("rota audit verify prints the key of a server", "--key %s is not a public key of 64 hexadecimal digits", shortened(text))
		}
		trust.Keys = append(trust.Keys, key)
	}
	if opts.head == "" {
		return trust, nil, nil
	}
	text, err := os.ReadFile(opts.head)
	if err != nil {
		return trust, nil, usagef("check the path", "--head: %v", err)
	}
	heads, err = rota.ParseAuditHeads(text)
	if rota.CodeOf(err) == rota.Conflict {
		return trust, nil, failf(exitNotClean, "use another copy of it", "%s: %w", opts.head, err)
	}
	if err != nil {
		return trust, nil, err
	}
	for i, h := range heads {
		if err := checkPrivateKeys(trust.Keys, h.Key); err != nil {
			return trust, nil, err
		}
		if len(trust.Keys) > 0 && !slices.Contains(trust.Keys, h.Key) {
			return trust, nil, failf(exitNotClean, "find out who signed it", "the head of entry %d in %s was signed with the key %s", h.Seq, opts.head, h.Key)
		}
		trust.Add(&heads[i])
	}
	if len(trust.Keys) == 0 { // else anyone could sign for what is not in the heads
		for _, h := range heads {
			if !slices.Contains(trust.Keys, h.Key) {
				trust.Keys = append(trust.Keys, h.Key)
			}
		}
	}
	return trust, heads, nil
}

// auditVerification checks the chain of a file, of a store, or in the server. It returns what to print, too.
func (a *app) auditVerification(ctx context.Context, opts auditVerifyOptions, trust rota.AuditTrust, heads []rota.AuditHead) (found api.AuditVerification, answer any, err error) {
	switch {
	case opts.file != "":
		found, err = verifyAuditFile(opts.file, trust, len(heads))
	case opts.store != "":
		found, err = verifyAuditStore(ctx, opts.store, trust, heads)
	default:
		return fetch[api.AuditVerification](ctx, a, verifyRequest(trust, heads))
	}
	return found, found, err
}

// verifyRequest is the request to a server.
func verifyRequest(trust rota.AuditTrust, heads []rota.AuditHead) apiclient.Request {
	var texts, keys []string
	for _, h := range heads {
		texts = append(texts, fmt.Sprintf("%d:%s:%d:%s", h.Seq, h.Hash, h.AnchorSeq, h.AnchorHash))
	}
	for _, key := range trust.Keys {
		keys = append(keys, key.String())
	}
	request := newGet("/audit/verify")
	request.Query = url.Values{}
	for name, values := range map[string][]string{"head": texts, "key": keys} {
		if len(values) > 0 {
			request.Query.Set(name, strings.Join(values, ","))
		}
	}
	return request
}

// verifyAuditStore checks a store.
func verifyAuditStore(ctx context.Context, store string, trust rota.AuditTrust, heads []rota.AuditHead) (api.AuditVerification, error) {
	opened, _, err := openReadOnly(ctx, store)
	if err != nil {
		return api.AuditVerification{}, err
	}
	defer opened.Close()
	report, err := opened.VerifyAudit(ctx, trust)
	return api.NewAuditVerification(report, len(heads), ""), err
}

// verifyAuditFile checks an export. The key of the result is the one that signed it.
func verifyAuditFile(path string, trust rota.AuditTrust, heads int) (api.AuditVerification, error) {
	file, err := os.Open(path)
	if err != nil {
		return api.AuditVerification{}, usagef("check the path", "--file: %v", err)
	}
	defer file.Close()
	report, err := auditchain.VerifyExport(file, trust)
	if err != nil {
		return api.AuditVerification{}, err
	}
	key := ""
	if report.Signed != nil {
		heads, key = heads+1, report.Signed.Key.String()
	}
	found := api.NewAuditVerification(report.AuditReport, heads, key)
	found.Derived = &report.Derived
	return found, nil
}

func faultText(f *api.AuditFault) string {
	entry := "an entry"
	if f.Seq > 0 {
		entry = fmt.Sprintf("entry %d", f.Seq)
	}
	if f.ID != "" {
		entry += " (" + string(f.ID) + ")"
	}
	return entry + " was " + f.Kind + ": " + f.Detail
}

func writeAuditVerification(w io.Writer, v api.AuditVerification) {
	word := "clean"
	if !v.Clean {
		word = "not clean"
	}
	fmt.Fprintf(w, "%s: checked %s and %s\n", word, plural(int(v.Checked), "audit entry", "audit entries"), plural(v.Heads, "signed head", "signed heads"))
	fmt.Fprintf(w, "head: entry %d, hash %s\n", v.Head.Seq, v.Head.Hash)
	if v.Anchor.Seq > 0 {
		signed := "not signed"
		if v.Anchor.Signed {
			signed = "signed with " + string(v.Anchor.Key)
		}
		fmt.Fprintf(w, "anchor: entry %d, %s; retention has removed the entries up to it\n", v.Anchor.Seq, signed)
	}
	if v.Unsealed > 0 {
		fmt.Fprintf(w, "not sealed yet: %s\n", plural(int(v.Unsealed), "entry", "entries"))
	}
	writeAuditKey(w, v)
}

func writeAuditKey(w io.Writer, v api.AuditVerification) {
	switch {
	case v.Derived == nil && v.Key != "":
		fmt.Fprintf(w, "key of this node: %s\n", v.Key)
	case v.Derived == nil:
	case v.Key == "":
		fmt.Fprintln(w, "the export is not signed")
	default:
		fmt.Fprintf(w, "signed with: %s; compare it with the key of the server\n", v.Key)
	}
	if v.Derived != nil && *v.Derived > 0 {
		fmt.Fprintf(w, "not in the chain: %s of jobs that were kept at that time\n", plural(int(*v.Derived), "entry", "entries"))
	}
}
