package gpuuse

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/oxgang/oxgang/model/job"
)

// An Idle is for how long a job left GPUs idle that it held, since its last Idle.
type Idle struct {
	At         time.Time `json:"at"` // its end
	Job        job.ID    `json:"job"`
	GPUSeconds float64   `json:"gpu_seconds"`
}

// logName is the name of the file of Idle lines, in the folder of the journals.
const logName = "gpu-idle.jsonl"

// Append adds what was measured since the last Append to the Log in a folder.
func (m *Meter) Append(folder string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	var lines []byte
	for id, j := range m.jobs {
		if j.hours > j.logged {
			line, err := json.Marshal(Idle{m.at, id, 3600 * (j.hours - j.logged)})
			if err != nil {
				return fmt.Errorf("idle GPUs: %w", err)
			}
			lines, j.logged = append(append(lines, line...), '\n'), j.hours
		}
	}
	if lines == nil {
		return nil
	}
	f, err := os.OpenFile(filepath.Join(folder, logName), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("idle GPUs: %w", err)
	}
	_, err = f.Write(lines)
	return errors.Join(err, f.Close())
}

// ReadLog returns the lines of the Log in a folder; none if there is no Log. A last line that was cut off is left out.
func ReadLog(folder string) ([]Idle, error) {
	f, err := os.Open(filepath.Join(folder, logName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("idle GPUs: %w", err)
	}
	defer f.Close()
	var all []Idle
	for d := json.NewDecoder(f); ; {
		var one Idle
		switch err := d.Decode(&one); {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return all, nil
		case err != nil:
			return nil, fmt.Errorf("%s: %w", f.Name(), err)
		}
		if one.GPUSeconds >= 0 && one.GPUSeconds < mostSeconds {
			all = append(all, one)
		}
	}
}

const mostSeconds = 1e12
