package run

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/simulate/config"
	"github.com/oxgang/oxgang/simulate/workload"
	"github.com/oxgang/oxgang/simulate/workload/profiles"
)

// LoadCatalog returns the applications that jobs can name, with their speeds, also on the GPU types of the key
// gpu-like.
func LoadCatalog(c *config.Config, files Files) (workload.Catalog, error) {
	catalog := profiles.Default()
	if c.Profiles != "" {
		var err error
		if catalog, err = readProfiles(c, files); err != nil {
			return nil, err
		}
	}
	if c.Public || c.Jobs.Slowdown {
		catalog = profiles.AsPublished(catalog)
	}
	likenesses, err := c.Likenesses()
	if err != nil {
		return nil, err
	}
	return workload.Extrapolate(catalog, likenesses), nil
}

const sensitivityName = "profiles.json"

const stepsName = "throughputs_isolated.csv"

func readProfiles(c *config.Config, files Files) (workload.Catalog, error) {
	for _, kind := range []struct {
		name string
		read func(r io.Reader, name string) (workload.Catalog, error)
	}{
		{sensitivityName, func(r io.Reader, name string) (workload.Catalog, error) { return readSensitivity(r, name, c) }},
		{stepsName, func(r io.Reader, name string) (workload.Catalog, error) { return profiles.ReadSteps(r, name, c.Table) }},
	} {
		name := c.Profiles + "/" + kind.name
		f, err := files.Open(name)
		switch {
		case err == nil:
			defer f.Close()
			return kind.read(f, name)
		case !errors.Is(err, fs.ErrNotExist):
			return nil, err
		}
	}
	if c.Table != "" {
		return nil, fmt.Errorf("profiles.table %q: %s has no %s, want a folder with one, or no table", c.Table, c.Profiles, stepsName)
	}
	return readThroughputs(c.Profiles, files)
}

func readThroughputs(folder string, files Files) (workload.Catalog, error) {
	// The off-table rows of the shared data are next to the profiles.
	off, err := files.Open(folder + "/../derived/offtable_wholenode.csv")
	var extra io.Reader
	switch {
	case err == nil:
		defer off.Close()
		extra = off
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	catalog, err := profiles.ReadProfiles(files.Dir(folder), extra)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", folder, err)
	}
	return catalog, nil
}

func readSensitivity(r io.Reader, name string, c *config.Config) (workload.Catalog, error) {
	cl, err := c.BuildCluster()
	if err != nil {
		return nil, err
	}
	ratio, largest := 0.0, cluster.Resources{}
	for _, t := range cl.Types() {
		if ratio == 0 && t.Counts() {
			ratio = t.Share.CPUs
		}
	}
	for _, n := range cl.Nodes() {
		largest.CPUs = max(largest.CPUs, n.Capacity.CPUs)
		largest.Memory = max(largest.Memory, n.Capacity.Memory)
	}
	catalog, err := profiles.ReadSensitivity(r, name, ratio)
	if err != nil {
		return nil, err
	}
	if err := profiles.CheckSensitivity(catalog, largest); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return catalog, nil
}
