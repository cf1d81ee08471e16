package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// variant is a change of the source that switches off a part of Rota, so that its cost can be measured. The Go tool
// compiles the changed text in place of the file; the product has no such switch.
type variant struct {
	name  string
	edits []edit
}

// edit inserts text after a line that a file has exactly once.
type edit struct{ file, line, insert string }

var (
	// unchanged is built in the same way as the others: a binary with cgo or without -trimpath differs in speed.
	unchanged    = variant{name: "unchanged"}
	withoutGuard = variant{"without-guard", []edit{
		{"access/guard.go", "func (g *Guard) Apply(ctx context.Context, b rota.Batch) ([]rota.Result, error) {", "return g.store.Apply(ctx, b)"},
		{"access/guard.go", "func (g *Guard) Authorize(ctx context.Context, c rota.Command) error {", "return nil"},
		{"access/guard_reads.go", "func (g *Guard) reader(ctx context.Context) (*reader, error) {", "return &reader{authority: builtInAdmin, from: g.store}, nil"},
	}}
	withoutChain = variant{"without-chain", []edit{
		{"store/sqlite/audit_chain.go", "func (w *writer) sealAudit() error {", "return nil"},
	}}
)

// apply returns the changed texts by their files, which are relative to the root of the main module.
func (v variant) apply(root string) (map[string]string, error) {
	changed := map[string]string{}
	for _, e := range v.edits {
		text, known := changed[e.file]
		if !known {
			raw, err := os.ReadFile(filepath.Join(root, e.file))
			if err != nil {
				return nil, err
			}
			text = string(raw)
		}
		if strings.Count(text, "\n"+e.line+"\n") != 1 {
			return nil, fmt.Errorf("%s: the line %q does not exist exactly once; adapt variant.go of the benchmarks", e.file, e.line)
		}
		changed[e.file] = strings.Replace(text, "\n"+e.line+"\n", "\n"+e.line+"\n\t"+e.insert+"\n", 1)
	}
	return changed, nil
}

// build builds a package of the variant, and returns the path of the binary. The package is in a directory that is
// relative to that of the benchmarks.
func (v variant) build(b *bench, dir, pkg string) (string, error) {
	work, err := filepath.Abs(b.dir)
	if err != nil {
		return "", err
	}
	binary := filepath.Join(work, filepath.Base(pkg)+"-"+v.name)
	if _, err := os.Stat(binary); err == nil {
		return binary, nil
	}
	root, err := filepath.Abs("..")
	if err != nil {
		return "", err
	}
	overlay, err := v.writeOverlay(root, work)
	if err != nil {
		return "", err
	}
	build := exec.CommandContext(b.ctx, "go", "build", "-trimpath", "-overlay", overlay, "-o", binary, pkg)
	build.Dir, build.Env = dir, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build %s %s: %w\n%s", pkg, v.name, err, out)
	}
	return binary, nil
}

// writeOverlay writes the changed files, and the file that tells the Go tool to use them.
func (v variant) writeOverlay(root, work string) (string, error) {
	changed, err := v.apply(root)
	if err != nil {
		return "", err
	}
	replace := map[string]string{}
	for file, text := range changed {
		to := filepath.Join(work, v.name+"-"+strings.ReplaceAll(file, "/", "-"))
		if err := os.WriteFile(to, []byte(text), 0o600); err != nil {
			return "", err
		}
		replace[filepath.Join(root, file)] = to
	}
	doc, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	path := filepath.Join(work, v.name+".json")
	return path, os.WriteFile(path, doc, 0o600)
}
