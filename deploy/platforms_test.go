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
	"slices"
	"strings"
	"testing"
)

// TestProgramTypeChecksOnOtherSystems checks the types of the program for the platforms of a release. It takes seconds where a
// build takes minutes, since it skips the function bodies of dependencies. A platform that has the system and the files of this
// module of one before it needs no check of its own: linux/amd64, which the other tests build and run, comes first.
func TestProgramTypeChecksOnOtherSystems(t *testing.T) {
	if testing.Short() {
		t.Skip("the test reads all dependencies")
	}
	seen := map[string]bool{}
	for _, platform := range releasePlatforms {
		all := listPackages(t, platform)
		system, _, _ := strings.Cut(platform, "/")
		if files := system + "\n" + ownFiles(all); !seen[files] {
			seen[files] = true
			if platform == "linux/amd64" {
				continue
			}
			for _, problem := range typeCheck(all, platform) {
				t.Errorf("%s: %s", platform, problem)
			}
		}
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

func (p *listedPackage) ours() bool { return p.Module != nil && p.Module.Main }

// listPackages lists the program with all dependencies, each before the packages that import it. It fails if a dependency does
// not support the platform.
func listPackages(t *testing.T, platform string) (all []*listedPackage) {
	t.Helper()
	system, arch, _ := strings.Cut(platform, "/")
	list := exec.Command("go", "list", "-deps", "-json=ImportPath,Dir,GoFiles,ImportMap,Module", "./cmd/rota")
	list.Dir = ".."
	list.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+arch)
	out, err := list.Output()
	if err != nil {
		t.Fatalf("%s: %v", platform, err)
	}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		p := &listedPackage{}
		if err := decoder.Decode(p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// ownFiles names the files of this module.
func ownFiles(all []*listedPackage) string {
	var names []string
	for _, p := range all {
		if p.ours() {
			names = append(names, p.ImportPath+": "+strings.Join(p.GoFiles, " "))
		}
	}
	slices.Sort(names)
	return strings.Join(names, "\n")
}

func typeCheck(all []*listedPackage, platform string) (problems []string) {
	_, arch, _ := strings.Cut(platform, "/")
	checked := packages{"unsafe": types.Unsafe}
	for _, p := range all {
		if p.ImportPath != "unsafe" {
			problems = append(problems, checked.check(p, types.SizesFor("gc", arch))...)
		}
	}
	return problems
}

// packages are the packages that are checked already.
type packages map[string]*types.Package

// check checks one package. Only problems of our own packages count: the checker reports some in the standard library, whose
// assembly functions have no bodies.
func (c packages) check(p *listedPackage, sizes types.Sizes) (problems []string) {
	files, set, ours := []*ast.File{}, token.NewFileSet(), p.ours()
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
