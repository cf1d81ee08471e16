package report

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/getsentry/sentry-go"
)

// framesMax bounds the frames of an event; an overflowed stack has many.
const framesMax = 100

// stackBegin matches the start of the stack in "panic: …\n\n<stack>". The panic value may
// contain such text too, so the last match counts.
var stackBegin = regexp.MustCompile(`\n\ngoroutine \d+ \[[^\]\n]*\]:\n`)

// splitPanic splits the error of a panic into its value and its stack. Other errors have no
// stack.
func splitPanic(text string) (message string, stack *sentry.Stacktrace) {
	begins := stackBegin.FindAllStringIndex(text, -1)
	if !strings.HasPrefix(text, "panic: ") || len(begins) == 0 {
		return text, nil
	}
	begin := begins[len(begins)-1]
	frames := parseStack(text[begin[1]:])
	if len(frames) == 0 {
		return text, nil
	}
	return text[:begin[0]], &sentry.Stacktrace{Frames: frames}
}

// parseStack parses the output of runtime/debug.Stack: for each call a line with the
// function and a line with its position. The text may be truncated. Sentry expects the
// outermost call first.
func parseStack(text string) []sentry.Frame {
	var frames []sentry.Frame
	lines := strings.Split(text, "\n")
	for i := 0; i+1 < len(lines); i++ {
		where, isPosition := strings.CutPrefix(lines[i+1], "\t")
		if !isPosition {
			continue
		}
		frame, isFrame := parseFrame(lines[i], where)
		i++
		if !isFrame {
			continue
		}
		if frame.Module == "" && frame.Function == "panic" { // the frames above are recover and print
			frames = frames[:0]
			continue
		}
		frames = append(frames, frame)
	}
	frames = frames[:min(len(frames), framesMax)]
	slices.Reverse(frames)
	return frames
}

var position = regexp.MustCompile(`^(.+):(\d+)(?: \+0x[0-9a-f]+)?$`)

func parseFrame(call, where string) (frame sentry.Frame, ok bool) {
	at := position.FindStringSubmatch(where)
	if at == nil {
		return frame, false
	}
	frame.Module, frame.Function = splitFunction(call)
	frame.Lineno, _ = strconv.Atoi(at[2])
	frame.Filename = path.Base(at[1])
	if frame.Module != "" && frame.Module != "main" {
		frame.Filename = frame.Module + "/" + frame.Filename
	}
	frame.AbsPath = at[1]
	frame.InApp = !isLibrary(frame.Module, at[1])
	return frame, frame.Function != ""
}

// splitFunction splits "example.org/shop/mail.(*Sender).Send(0x1, …)" into its
// package and its function.
func splitFunction(call string) (module, function string) {
	call = strings.TrimPrefix(call, "created by ")
	call, _, _ = strings.Cut(call, " in goroutine ")
	if args := strings.LastIndexByte(call, '('); args > 0 && strings.HasSuffix(call, ")") {
		call = call[:args]
	}
	slash := strings.LastIndexByte(call, '/') + 1
	module, function, found := strings.Cut(call[slash:], ".")
	if !found {
		return "", call
	}
	return strings.ReplaceAll(call[:slash]+module, "%2e", "."), function
}

// isLibrary reports whether a function belongs to Go, to a library or to Rota.
func isLibrary(module, file string) bool {
	first, _, _ := strings.Cut(module, "/")
	return slices.Contains(standard, first) || strings.Contains(file, "@v") || strings.Contains(file, "/vendor/") ||
		module == "github.com/rotajobs/rota" || strings.HasPrefix(module, "github.com/rotajobs/rota/")
}

// standard lists the first path elements of the packages of the standard library. A missing
// dot is not enough: packages of a program may have none either.
var standard = strings.Fields(`archive bufio bytes cmp compress container context crypto database debug embed encoding errors expvar
	flag fmt go hash html image index internal io iter log maps math mime net os path plugin reflect regexp runtime slices
	sort strconv strings structs sync syscall testing text time unicode unique unsafe vendor weak`)
