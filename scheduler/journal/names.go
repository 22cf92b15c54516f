package journal

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/oxgang/oxgang/model/job"
)

// Jobs returns the IDs of all jobs in the journal, in order. It decodes only the names of jobs and does not check
// hashes.
func (f *File) Jobs() ([]job.ID, error) {
	all, err := f.beginning()
	if err != nil {
		return nil, err
	}
	src := bufio.NewReaderSize(io.NewSectionReader(f.src, f.body, f.size-f.body), 1<<18)
	r := &Reader{src: src, header: f.header, offset: max(1, f.body)}
	for {
		text, whole, err := r.next()
		if errors.Is(err, io.EOF) || err == nil && !whole {
			return all, nil
		}
		if err != nil {
			return nil, r.place(err)
		}
		if id, ok := begun(text); ok {
			all = append(all, id)
		}
	}
}

func (f *File) beginning() ([]job.ID, error) {
	if f.header.From == 0 {
		return nil, nil
	}
	r, err := f.Start()
	if err != nil {
		return nil, err
	}
	c, err := r.Checkpoint()
	if err != nil || c == nil {
		return nil, err
	}
	var all []job.ID
	for i := range c.Jobs {
		all = append(all, c.Jobs[i].Spec.ID)
	}
	return all, nil
}

func begun(line []byte) (job.ID, bool) {
	_, rest, _ := bytes.Cut(line, []byte(","))
	for _, key := range []string{submitKey, restoreKey} {
		if name, ok := bytes.CutPrefix(rest, []byte(key)); ok {
			c := cursor{buf: name}
			id := c.str()
			return job.ID(id), c.err == nil
		}
	}
	return "", false
}

// submitKey and restoreKey follow the time in the line of a job that is submitted or restored.
const (
	submitKey  = `"submit":{"id":`
	restoreKey = `"restore":{"spec":{"id":`
)
