package rota

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"slices"
	"time"
)

func jobID(command, given ID, i int) ID {
	if !given.IsZero() {
		return given
	}
	var salt [4]byte
	binary.BigEndian.PutUint32(salt[:], uint32(i))
	id := command.Derive(salt[:])
	copy(id[6:8], command[6:8])
	id[8] = 0x80 | byte(i>>8)&0x3f
	id[9] = byte(i)
	return id
}

// RunID returns the id of the run that a command creates for a job.
func RunID(command, job ID) ID { return command.Derive(job[:]) }

// RetryID returns the id of the job that a command creates to retry another.
func RetryID(command, job ID) ID { return command.Derive(append([]byte("retry"), job[:]...)) }

// DeliveryID returns the id of the job that delivers an event to a webhook. It is
// derived from the params of the delivery and the time of the event, so it is the same
// on every machine. It sorts by time; events of one job at the same time sort by their
// order in WebhookEvents.
func DeliveryID(params json.RawMessage, kind EventKind, at time.Time) (id ID) {
	sum := sha256.Sum256(params)
	copy(id[6:], sum[:])
	micros := at.UnixMicro()
	for i, ms := 5, micros/1000; i >= 0; i, ms = i-1, ms>>8 {
		id[i] = byte(ms)
	}
	binary.BigEndian.PutUint16(id[6:], 0x7000|uint16(micros%1000)&0x0fff)
	id[8] = 0x80 | byte(slices.Index(WebhookEvents, kind))&0x3f
	return id
}

// DefinitionID returns the id of a definition for interfaces that need one. It is
// derived from the name alone, so it is the same in every store and stays valid after
// the definition is gone.
func DefinitionID(name string) (id ID) {
	sum := sha256.Sum256([]byte("definition " + name))
	copy(id[:], sum[:])
	id[6] = id[6]&0x0f | 0x80
	id[8] = id[8]&0x3f | 0x80
	return id
}

// AuditID returns the id of the audit entry that a command writes about a job.
func AuditID(command ID, verb Verb, job ID) ID {
	return command.Derive(append([]byte("audit "+string(verb)), job[:]...))
}

// AuditNameID returns the id of the audit entry that a command writes about something
// with a name.
func AuditNameID(command ID, verb Verb, subject string) ID {
	return command.Derive([]byte("audit " + string(verb) + " of " + subject))
}

// AuditEndID returns the id of the audit entry about the end of a job. It sorts as the id of the job.
// The entry about the creation of a job has the id of the job.
func AuditEndID(job ID) ID {
	job[6] = job[6]&0x0f | 0x80
	return job
}

// AuditRepeatID returns the id under which an entry of a job is written if the audit has an entry with
// its own id: the command that created the job was sent again after the job had been pruned. It is
// derived from the time of the entry too, so that each repetition has another id.
func AuditRepeatID(entry ID, at time.Time) ID {
	return entry.Derive(binary.BigEndian.AppendUint64([]byte("audit again "), uint64(at.UnixMicro())))
}

func tokenFor(seed Token, job ID) Token {
	var both [32]byte
	copy(both[:16], seed[:])
	copy(both[16:], job[:])
	sum := sha256.Sum256(both[:])
	return Token(sum[:16])
}
