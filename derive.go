package rota

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"slices"
	"time"
)

// JobID is the id of the i-th job of the command. Derived ones sort by their
// place in it, so that neighbours in the queue lie on one page: claims and
// finishes of a batch then write half the pages.
func (c *Enqueue) JobID(i int) ID { return jobID(c.ID, c.Jobs[i].ID, i) }

// JobID is the id of the i-th member of the group.
func (c *EnqueueGroup) JobID(i int) ID { return jobID(c.ID, c.Jobs[i].ID, i) }

// GroupID is the id of the group that the command makes.
func (c *EnqueueGroup) GroupID() ID { return c.ID.Derive([]byte("group")) }

// JobID is the id of the i-th job that the command makes: its times one after
// the other, the scopes of each in their order.
func (c *Fire) JobID(i int) ID { return jobID(c.ID, ID{}, i) }

// JobID is the id of the job for the i-th scope.
func (c *Trigger) JobID(i int) ID { return jobID(c.ID, ID{}, i) }

// JobID is the id of the i-th job that the command makes: its times one after
// the other, the scopes of each in their order.
func (c *Backfill) JobID(i int) ID { return jobID(c.ID, ID{}, i) }

// ReservationID is the id of the reservation that the command makes.
func (c *Reserve) ReservationID() ID { return c.ID.Derive([]byte("reservation")) }

// JobID is the id of the direct run's job.
func (c *Direct) JobID() ID { return jobID(c.ID, c.Job.ID, 0) }

// TokenFor is the lease token that the command gives its job.
func (c *Direct) TokenFor(job ID) Token { return tokenFor(c.Seed, job) }

// NewJobID is the id of the job that tries an execution anew.
func (c *Redrive) NewJobID() ID { return jobID(c.ID, ID{}, 0) }

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

// RunID is the id of the run that a command makes for a job.
func RunID(command, job ID) ID { return command.Derive(job[:]) }

// RetryID is the id of the job that a command makes to retry another.
func RetryID(command, job ID) ID { return command.Derive(append([]byte("retry"), job[:]...)) }

// DeliveryID is the id of the job that makes a delivery, given its params. It
// comes from what is told, to whom and of which time, so that it is the same on
// every machine. It sorts by that time, and of what happened to one job at once
// the earlier comes first.
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

// DefinitionID is the id that a definition goes by where it needs a number: it
// comes from the name alone, so that it is the same in every store and outlives
// the definition.
func DefinitionID(name string) (id ID) {
	sum := sha256.Sum256([]byte("definition " + name))
	copy(id[:], sum[:])
	id[6] = id[6]&0x0f | 0x80
	id[8] = id[8]&0x3f | 0x80
	return id
}

// AuditID is the id of the audit entry that a command writes about a job.
func AuditID(command ID, verb Verb, job ID) ID {
	return command.Derive(append([]byte("audit "+string(verb)), job[:]...))
}

// AuditNameID is the id of the audit entry that a command writes about something
// that has a name.
func AuditNameID(command ID, verb Verb, subject string) ID {
	return command.Derive([]byte("audit " + string(verb) + " of " + subject))
}

// TokenFor is the lease token that the claim gives a job. It cannot be
// computed from anything that is shown to others.
func (c *Claim) TokenFor(job ID) Token { return tokenFor(c.Seed, job) }

func tokenFor(seed Token, job ID) Token {
	var both [32]byte
	copy(both[:16], seed[:])
	copy(both[16:], job[:])
	sum := sha256.Sum256(both[:])
	return Token(sum[:16])
}
