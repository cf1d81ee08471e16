package deploy

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestProgramTypeChecksOnOtherSystems checks the types of the program for the systems that the other tests do not run on. It
// takes seconds where a build takes minutes, since it skips the function bodies of dependencies.
func TestProgramTypeChecksOnOtherSystems(t *testing.T) {
	if testing.Short() {
		t.Skip("the test reads all dependencies")
	}
	for _, platform := range []string{"windows/amd64", "darwin/arm64"} {
		t.Run(strings.ReplaceAll(platform, "/", "_"), func(t *testing.T) {
			for _, problem := range typeCheck(t, platform) {
				t.Error(problem)
			}
		})
	}
}

// listedPackage is a package in the output of go list.
type listedPackage struct {
	ImportPath string
	Dir        string
	GoFiles    []string
	ImportMap  map[string]string
	Module     *struct{ Main bool }
}

// typeCheck checks the program with all dependencies, which go list prints before the packages that import them.
func typeCheck(t *testing.T, platform string) (problems []string) {
	t.Helper()
	system, arch, _ := strings.Cut(platform, "/")
	list := exec.Command("go", "list", "-deps", "-json=ImportPath,Dir,GoFiles,ImportMap,Module", "./cmd/rota")
	list.Dir = ".."
	list.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+arch)
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	checked := packages{"unsafe": types.Unsafe}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listedPackage
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return problems
		} else if err != nil {
			t.Fatal(err)
		}
		if p.ImportPath == "unsafe" {
			continue
		}
		ours := p.Module != nil && p.Module.Main
		problems = append(problems, checked.check(&p, ours, types.SizesFor("gc", arch))...)
	}
}

// packages are the packages that are checked already.
type packages map[string]*types.Package

// check checks one package. Only problems of our own packages count: the checker reports some in the standard library, whose
// assembly functions have no bodies.
func (c packages) check(p *listedPackage, ours bool, sizes types.Sizes) (problems []string) {
	files, set := []*ast.File{}, token.NewFileSet()
	for _, name := range p.GoFiles {
		file, err := parser.ParseFile(set, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			problems = append(problems, err.Error())
			continue
		}
		files = append(files, file)
	}
	config := types.Config{
		Importer: importer{c, p.ImportMap}, Sizes: sizes, IgnoreFuncBodies: !ours,
		Error: func(err error) {
			if ours {
				problems = append(problems, err.Error())
			}
		},
	}
	c[p.ImportPath], _ = config.Check(p.ImportPath, set, files, nil) // Error has the errors
	return problems
}

type importer struct {
	packages
	paths map[string]string // real paths of vendored packages
}

func (i importer) Import(name string) (*types.Package, error) {
	if real := i.paths[name]; real != "" {
		name = real
	}
	if p := i.packages[name]; p != nil {
		return p, nil
	}
	return nil, errors.New("package " + name + " is not listed")
}
