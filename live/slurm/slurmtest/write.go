package slurmtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/oxgang/oxgang/live/slurm/client"
)

// Refusing changes Refuse while a scheduler runs.
func (s *Slurm) Refusing(refuse func(command string) string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Refuse = refuse
}

func (s *Slurm) command(ctx context.Context, id client.ID, text string, do func(*Job) error) error {
	if s.Before != nil {
		if err := s.Before(text); err != nil {
			return err
		}
	}
	if err := s.write(ctx, id, text, do); err != nil {
		return err
	}
	if s.After != nil {
		return s.After(text)
	}
	return nil
}

func (s *Slurm) write(ctx context.Context, id client.ID, text string, do func(*Job) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.answers(ctx); err != nil {
		return err
	}
	s.settle()
	defer s.settle()
	if s.Refuse != nil {
		if said := s.Refuse(text); said != "" {
			return refused("%s", said)
		}
	}
	if int(id) > len(s.jobs) || id == 0 {
		return &client.Error{Command: "scontrol", Message: "Invalid job id specified", Err: client.ErrUnknownJob}
	}
	j := s.jobs[id-1]
	if !j.Waits() && !j.Holds() {
		return &client.Error{Command: "scontrol", Message: "Job/step already completing or completed", Err: client.ErrEnded}
	}
	return do(j)
}

func refused(format string, args ...any) error {
	return &client.Error{Command: "scontrol", Message: fmt.Sprintf(format, args...), Err: errors.New("exit status 1")}
}

// Hold implements slurm.Commands.
func (s *Slurm) Hold(ctx context.Context, id client.ID) error {
	return s.command(ctx, id, fmt.Sprintf("hold %d", id), func(j *Job) error {
		if !j.Waits() {
			return refused("Job is no longer pending execution for job %d", id)
		}
		j.keep("JobHeldAdmin")
		return nil
	})
}

// Release implements slurm.Commands.
func (s *Slurm) Release(ctx context.Context, id client.ID) error {
	return s.command(ctx, id, fmt.Sprintf("release %d", id), func(j *Job) error {
		if !j.Waits() {
			return refused("Job is no longer pending execution for job %d", id)
		}
		if j.IsHeld() {
			j.Priority, j.Reason, j.Flags = max(1, j.before), "None", nil
		}
		return nil
	})
}

// Requeuehold implements slurm.Commands.
func (s *Slurm) Requeuehold(ctx context.Context, id client.ID) error {
	return s.command(ctx, id, fmt.Sprintf("requeuehold %d", id), func(j *Job) error {
		if !j.Requeue {
			return refused("Requested operation is presently disabled for job %d", id)
		}
		if j.State == client.Running {
			s.requeue(j, "JobHeldAdmin")
		}
		j.keep("job requeued in held state")
		j.Flags = []string{"REQUEUE_HOLD"}
		return nil
	})
}

// Requeue acts as scontrol requeue by somebody else.
func (s *Slurm) Requeue(ctx context.Context, id client.ID) error {
	return s.write(ctx, id, "", func(j *Job) error {
		s.requeue(j, "BeginTime")
		return nil
	})
}

// Signal implements slurm.Commands: the program saves a checkpoint, and its script requeues itself.
func (s *Slurm) Signal(ctx context.Context, id client.ID, name string, _ client.Target) error {
	return s.command(ctx, id, fmt.Sprintf("signal %s %d", name, id), func(j *Job) error {
		if j.State != client.Running {
			return refused("Job/step not running")
		}
		if !j.Noticed {
			j.Saved, j.Noticed, j.noticed = j.Work, true, time.Now()
		}
		return nil
	})
}

// Cancel acts as scancel by a user.
func (s *Slurm) Cancel(ctx context.Context, id client.ID) error {
	return s.write(ctx, id, "", func(j *Job) error {
		s.end(j, client.Cancelled, 0)
		return nil
	})
}

// Update implements slurm.Commands. A refused field prevents all changes.
func (s *Slurm) Update(ctx context.Context, id client.ID, fields ...client.Field) error {
	words := make([]string, len(fields))
	for i, f := range fields {
		words[i] = f.Name + "=" + f.Value
	}
	return s.command(ctx, id, fmt.Sprintf("update %d %s", id, strings.Join(words, " ")), func(j *Job) error {
		next := *j
		for _, f := range fields {
			if err := next.update(f); err != nil {
				return err
			}
		}
		if next.NumTasks < next.Needed {
			return refused("Node count specification invalid")
		}
		*j = next
		return nil
	})
}

func (j *Job) update(f client.Field) error {
	number, _, _ := strings.Cut(f.Value, "-")
	n, bad := strconv.Atoi(number)
	if slices.Contains([]string{"NumNodes", "NumTasks", "NumCPUs", "TresPerNode", "ReqNodeList"}, f.Name) && !j.Waits() {
		return refused("Job is no longer pending execution for job %d", j.ID)
	}
	switch f.Name {
	case "NumNodes":
		j.Needed = n
	case "NumTasks":
		j.NumTasks = n
	case "NumCPUs":
		j.CPUs = n
	case "Nice":
		n, bad = strconv.Atoi(f.Value)
		moved := int64(j.Nice) - int64(n)
		if j.before = uint32(int64(j.before) + moved); j.Priority > 0 {
			j.Priority = uint32(int64(j.Priority) + moved)
		}
		j.Nice = n
	case "TresPerNode":
		bad = j.tres(f.Value)
	case "ReqNodeList":
		if j.ReqNodes, bad = strings.Split(f.Value, ","), nil; f.Value == "" {
			j.ReqNodes = nil
		}
	case "StartTime":
		var seconds int
		_, bad = fmt.Sscanf(f.Value, "now+%d", &seconds)
		j.earlier = time.Now().Add(time.Duration(seconds) * time.Second)
	case "Comment":
		j.Comment, bad = f.Value, nil
	case "AdminComment":
		j.AdminComment, bad = f.Value, nil
	default:
		return refused("Update of this parameter is not supported: %s", f.Name)
	}
	if bad != nil {
		return refused("Bad %s value: %s", f.Name, f.Value)
	}
	return nil
}

// tres sets the GPUs per node. Slurm refuses to add or remove the type.
func (j *Job) tres(text string) error {
	g, err := client.ParseGPUs(text)
	if err == nil && !slices.Equal(g.Types(), j.PerNode.Types()) {
		return refused("Invalid GRES specification (with and without type identification) for job %d", j.ID)
	}
	j.PerNode = g
	return err
}
