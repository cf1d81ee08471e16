//go:build amd64 || arm64

package shim

import (
	"encoding/binary"
	"errors"
	"io"
	"syscall"
	"time"
)

// Report is a message of the shim: the program runs, it could not be started, or it has ended.
type Report struct {
	Kind   byte
	Failed string // why it could not be started
	Status syscall.WaitStatus
	CPU    time.Duration
	Memory int64  // largest resident set, in KiB
	Left   string // what could not be ended, "" for nothing
}

// Kinds of reports.
const (
	Started = 's'
	Failed  = 'f'
	Ended   = 'e'
)

// ReadReport reads one report. The error is io.EOF or io.ErrUnexpectedEOF if the shim has ended without one.
func ReadReport(r io.Reader) (Report, error) {
	var head [5]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return Report{}, err
	}
	body := make([]byte, binary.LittleEndian.Uint32(head[1:]))
	if _, err := io.ReadFull(r, body); err != nil {
		return Report{}, err
	}
	report := Report{Kind: head[0]}
	switch {
	case report.Kind == Failed:
		report.Failed = string(body)
	case report.Kind == Ended && len(body) >= endedSize:
		report.Status = syscall.WaitStatus(binary.LittleEndian.Uint64(body))
		report.CPU = time.Duration(binary.LittleEndian.Uint64(body[8:]))
		report.Memory = int64(binary.LittleEndian.Uint64(body[16:]))
		report.Left = string(body[endedSize:])
	case report.Kind == Started && len(body) == 0:
	default:
		return Report{}, errors.New("the shim has sent an unknown report")
	}
	return report, nil
}

func send(kind byte, body []byte) {
	message := append([]byte{kind, 0, 0, 0, 0}, body...)
	binary.LittleEndian.PutUint32(message[1:], uint32(len(body)))
	for len(message) > 0 {
		n, err := syscall.Write(controlFD, message)
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return // the server has died, and the reader of orders ends the shim
		}
		message = message[n:]
	}
}

const endedSize = 24 // bytes of the numbers of a report of the end

func sendEnded(status syscall.WaitStatus, used *syscall.Rusage, left string) {
	var body [endedSize]byte
	binary.LittleEndian.PutUint64(body[:], uint64(status))
	binary.LittleEndian.PutUint64(body[8:], uint64(used.Utime.Nano()+used.Stime.Nano()))
	binary.LittleEndian.PutUint64(body[16:], uint64(used.Maxrss))
	send(Ended, append(body[:], left...))
}
