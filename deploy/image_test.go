package deploy

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/rotajobs/rota/store/postgres/pgtest"
)

func TestMain(m *testing.M) {
	status := 1
	func() {
		defer pgtest.Close()
		defer func() {
			if built.dir != "" {
				_ = os.RemoveAll(built.dir)
			}
		}()
		status = m.Run()
	}()
	os.Exit(status)
}

// image is what the Dockerfile builds, without Docker: each stage is a directory, each COPY copies files between them, and
// each RUN runs in the directory of its stage on this machine instead of the base image.
type image struct {
	dir        string            // of all stages
	root       string            // root directory of the last stage
	user       string            // USER
	env        map[string]string // ENV
	workdir    string
	volume     string
	entrypoint []string
	cmd        []string
	health     []string
	stopSignal string
	exposed    []string
}

var built struct {
	once sync.Once
	dir  string
	image
	err string
}

// buildImage performs the steps of the Dockerfile once for all tests.
func buildImage(t *testing.T) *image {
	t.Helper()
	if testing.Short() {
		t.Skip("the test builds the program")
	}
	built.once.Do(func() {
		dir, err := os.MkdirTemp("", "rota-image-")
		if err != nil {
			built.err = err.Error()
			return
		}
		if err := os.Chmod(dir, 0o755); err != nil { // the user of the image must reach its files
			built.err = err.Error()
		}
		built.dir = dir
		built.image = image{dir: dir, env: map[string]string{}}
		built.err += built.image.build()
	})
	if built.err != "" {
		t.Fatal(built.err)
	}
	return &built.image
}

// instruction is one instruction of a Dockerfile.
type instruction struct {
	name  string
	flags map[string]string
	words []string // arguments, or the elements of a JSON list
	text  string   // arguments as written
}

func readDockerfile(text string) (all []instruction) {
	text = strings.ReplaceAll(text, "\\\n", " ")
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		name, rest, _ := strings.Cut(line, " ")
		i := instruction{name: name, flags: map[string]string{}}
		for rest = strings.TrimSpace(rest); strings.HasPrefix(rest, "--"); rest = strings.TrimSpace(rest) {
			var flag string
			flag, rest, _ = strings.Cut(rest, " ")
			key, value, _ := strings.Cut(strings.TrimPrefix(flag, "--"), "=")
			i.flags[key] = value
		}
		i.text, i.words = rest, words(rest)
		all = append(all, i)
	}
	return all
}

// words splits arguments, also those in the form of a JSON list.
func words(text string) (all []string) {
	for _, word := range strings.FieldsFunc(text, func(c rune) bool { return strings.ContainsRune(" \t[],", c) }) {
		all = append(all, strings.Trim(word, `"`))
	}
	return all
}

func (m *image) build() (problem string) {
	text, err := os.ReadFile("docker/Dockerfile")
	if err != nil {
		return err.Error()
	}
	var stage, workdir string
	stages, args := map[string]string{}, []string{"VERSION=v0.0.0-image"}
	for _, i := range readDockerfile(string(text)) {
		var err error
		switch i.name {
		case "FROM":
			stage, workdir = filepath.Join(m.dir, "stage"+strconv.Itoa(len(stages))), "/"
			name := strconv.Itoa(len(stages))
			if len(i.words) == 3 {
				name = i.words[2]
			}
			stages[name], m.root, m.user = stage, stage, "0:0"
			err = os.Mkdir(stage, 0o755)
		case "WORKDIR":
			workdir = i.words[0]
			m.workdir = workdir
			err = os.MkdirAll(stage+workdir, 0o755)
		case "COPY":
			err = copyInto(stage, workdir, stages[i.flags["from"]], i)
		case "RUN":
			err = m.runStep(stage, workdir, i.text, args)
		case "ARG": // its default does not matter: the build gives a value, as a release does
		case "ENV":
			for _, word := range i.words {
				key, value, _ := strings.Cut(word, "=")
				m.env[key] = value
			}
		case "USER":
			m.user = i.words[0]
		case "VOLUME":
			m.volume = i.words[0]
		case "EXPOSE":
			m.exposed = i.words
		case "STOPSIGNAL":
			m.stopSignal = i.words[0]
		case "ENTRYPOINT":
			m.entrypoint = i.words
		case "CMD":
			m.cmd = i.words
		case "HEALTHCHECK":
			m.health = i.words[1:]
		default:
			return "the test does not know the instruction " + i.name
		}
		if err != nil {
			return i.name + " " + i.text + ": " + err.Error()
		}
	}
	return ""
}

// runStep runs a shell command of a stage. Paths in /out, which the stage creates, are in the directory of the stage.
func (m *image) runStep(stage, workdir, command string, args []string) error {
	cmd := exec.Command("sh", "-ec", strings.ReplaceAll(command, " /out/", " "+stage+"/out/"))
	cmd.Dir = stage + workdir
	cmd.Env = append(os.Environ(), args...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return &exec.Error{Name: string(out), Err: err}
	}
	return nil
}

// copyInto performs a COPY. A file of the base image that no step creates is that of this machine.
func copyInto(stage, workdir, from string, i instruction) error {
	target := i.words[len(i.words)-1]
	if !path.IsAbs(target) {
		target = path.Join(workdir, target) + strings.TrimPrefix(target[len(target)-1:], ".")
	}
	for _, source := range i.words[:len(i.words)-1] {
		switch {
		case from == "":
			source = filepath.Join("..", source)
		default:
			if _, err := os.Lstat(from + source); err == nil {
				source = from + source
			}
		}
		to := stage + target
		if info, err := os.Stat(source); err != nil {
			return err
		} else if strings.HasSuffix(target, "/") && !info.IsDir() {
			to = filepath.Join(to, filepath.Base(source))
		}
		if err := copyTree(source, to, from == ""); err != nil {
			return err
		}
		if owner := i.flags["chown"]; owner != "" && os.Getuid() == 0 {
			uid, gid := ids(owner)
			if err := os.Chown(to, uid, gid); err != nil {
				return err
			}
		}
	}
	return nil
}

func ids(user string) (uid, gid int) {
	first, second, _ := strings.Cut(user, ":")
	uid, _ = strconv.Atoi(first)
	gid, _ = strconv.Atoi(second)
	return uid, gid
}

// copyTree copies a file or a directory with its modes. From the build context it leaves out what .dockerignore names.
func copyTree(source, target string, context bool) error {
	return filepath.WalkDir(source, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		inside, err := filepath.Rel(source, name)
		if err != nil {
			return err
		}
		if context && ignored(filepath.ToSlash(inside)) {
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		to := filepath.Join(target, inside)
		info, err := d.Info()
		switch {
		case err != nil:
			return err
		case d.IsDir():
			if err := os.MkdirAll(to, 0o755); err != nil {
				return err
			}
			return os.Chmod(to, info.Mode()) // MkdirAll applies the umask and drops the sticky bit
		case !d.Type().IsRegular():
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		return os.WriteFile(to, text, info.Mode().Perm())
	})
}

var ignorePatterns = sync.OnceValue(func() (patterns []string) {
	text, err := os.ReadFile("../.dockerignore")
	if err != nil {
		panic(err)
	}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			patterns = append(patterns, line)
		}
	}
	return patterns
})

// ignored reports whether .dockerignore leaves a path out. It knows names, and ** at the beginning.
func ignored(name string) bool {
	return slices.ContainsFunc(ignorePatterns(), func(pattern string) bool {
		rest, anywhere := strings.CutPrefix(pattern, "**/")
		if anywhere {
			match, _ := path.Match(rest, path.Base(name))
			return match
		}
		match, _ := path.Match(pattern, name)
		return match
	})
}

// command runs a program of the image as its user, with its environment. As root of this machine the last stage is the
// root directory of the program, so that nothing outside the image exists for it; otherwise its paths are mapped.
func (m *image) command(t *testing.T, data string, env map[string]string, args ...string) *exec.Cmd {
	t.Helper()
	values := map[string]string{}
	for _, from := range []map[string]string{m.env, env} {
		for key, value := range from {
			values[key] = value
		}
	}
	cmd := &exec.Cmd{Path: args[0], Args: args, Dir: m.workdir}
	if os.Getuid() == 0 {
		uid, gid := ids(m.user)
		if uid == 0 || gid == 0 {
			t.Fatalf("the image runs as %s", m.user)
		}
		cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: m.root, Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
		values["ROTA_DATA"] = data
	} else {
		cmd.Path, cmd.Dir, values["ROTA_DATA"] = m.root+args[0], m.root+m.workdir, m.root+data
	}
	for key, value := range values {
		cmd.Env = append(cmd.Env, key+"="+value)
	}
	return cmd
}

// run runs a command of the image to its end.
func (m *image) run(t *testing.T, data string, env map[string]string, args ...string) (out string, code int) {
	t.Helper()
	cmd := m.command(t, data, env, args...)
	var b bytes.Buffer
	cmd.Stdout, cmd.Stderr = &b, &b
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return b.String(), cmd.ProcessState.ExitCode()
}
