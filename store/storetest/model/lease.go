package model

import (
	"slices"

	"github.com/rotajobs/rota"
)

// jobOfLease returns the job whose run, open or closed, has this lease. It is nil if the lease
// is wrong.
func (s *step) jobOfLease(ref rota.LeaseRef) *rota.Job {
	j := s.find(ref.JobID)
	if j == nil || j.Run == nil || j.Run.ID != ref.RunID || j.Run.Token != ref.Token {
		return nil
	}
	return j
}

func leaseLost(ref rota.LeaseRef) rota.LeaseAnswer {
	return rota.LeaseAnswer{RunID: ref.RunID, Code: rota.LeaseLost}
}

func leaseAnswer(r *rota.Run) rota.LeaseAnswer {
	return rota.LeaseAnswer{
		RunID: r.ID, StaleAfter: r.StaleAfter,
		Cancel: !r.CancelAt.IsZero(), Reason: r.CancelReason,
	}
}

func (s *step) extend(c *rota.Extend) (rota.Reply, *rota.Error) {
	reply := &rota.Extended{}
	for _, it := range c.Items {
		answer := leaseLost(it.LeaseRef)
		if j := s.jobOfLease(it.LeaseRef); j != nil && j.Run.Open() && !graceOver(j, c.Grace, s.now) {
			j.Run.HeartbeatAt = s.now
			j.Run.StaleAfter = micros(s.now.Add(c.Lease))
			if it.Progress != nil {
				j.Run.Progress = slices.Clone(it.Progress)
			}
			s.extendReservation(j)
			answer = leaseAnswer(j.Run)
			answer.Overdue = j.Policy.Timeout > 0 && s.now.Sub(j.StartedAt) >= j.Policy.Timeout
		}
		reply.Items = append(reply.Items, answer)
	}
	s.extendUnused(c)
	return reply, nil
}

func (s *step) note(c *rota.Note) (rota.Reply, *rota.Error) {
	reply := &rota.Noted{}
	for _, it := range c.Items {
		answer := leaseLost(it.LeaseRef)
		if j := s.jobOfLease(it.LeaseRef); j != nil && j.Run.ErrorCode != rota.CodeLeaseExpired {
			recordNote(j.Run, it)
			answer = leaseAnswer(j.Run)
		}
		reply.Items = append(reply.Items, answer)
	}
	return reply, nil
}

func recordNote(r *rota.Run, it rota.NoteItem) {
	r.Artifacts = addArtifacts(r.Artifacts, it.Artifacts)
	if !r.Open() {
		return
	}
	if it.Progress != nil {
		r.Progress = slices.Clone(it.Progress)
	}
	if r.LogPath == "" {
		r.LogPath = it.LogPath
	}
}

func addArtifacts(have, more []string) []string {
	all := slices.Clone(have)
	for _, path := range more {
		if !slices.Contains(all, path) && len(all) < rota.ArtifactMax {
			all = append(all, path)
		}
	}
	return all
}
