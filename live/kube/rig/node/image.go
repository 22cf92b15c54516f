package node

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Images on the nodes. Pods must not pull them (imagePullPolicy IfNotPresent).
const (
	// Busybox has busybox's programs in /bin.
	Busybox = "rig.oxgang.dev/busybox:1"
	// Host is an image that uses the machine's own programs, by the volumes of HostVolumes.
	Host = "rig.oxgang.dev/host:1"

	pause = "rig.oxgang.dev/pause:1" // first container of each pod
)

type entry struct {
	path string // without a leading slash
	from string // "": none
	link string // "": none
}

// applets are the busybox programs in the image. wget is missing: it needs the machine's C library to look up
// ports.
var applets = strings.Fields("sh ash cat cut date echo env false grep head hostname id ip kill ls mkdir nc nslookup " +
	"printf ps rm sed seq sleep tail test touch tr true uname wc httpd")

func images(debian, bin string) map[string][]entry {
	box := []entry{{path: "bin/busybox", from: filepath.Join(debian, "bin", "busybox")}}
	for _, name := range applets {
		box = append(box, entry{path: "bin/" + name, link: "busybox"})
	}
	host := []entry{{path: "usr"}, {path: "tmp"}, {path: "etc"}}
	for _, name := range []string{"bin", "sbin", "lib", "lib64"} {
		host = append(host, entry{path: name, link: "usr/" + name})
	}
	return map[string][]entry{
		pause:   {{path: "pause", from: filepath.Join(bin, "pause")}},
		Busybox: append(box, entry{path: "tmp"}, entry{path: "etc"}),
		Host:    host,
	}
}

// HostVolumes returns the volumes that containers of image Host need: the machine's /usr and dirs, read-only, at their
// own paths.
func HostVolumes(dirs ...string) ([]corev1.Volume, []corev1.VolumeMount) {
	var volumes []corev1.Volume
	var mounts []corev1.VolumeMount
	for i, dir := range append([]string{"/usr"}, dirs...) {
		name := fmt.Sprintf("host-%d", i)
		kind := corev1.HostPathDirectory
		volumes = append(volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{
			HostPath: &corev1.HostPathVolumeSource{Path: dir, Type: &kind},
		}})
		mounts = append(mounts, corev1.VolumeMount{Name: name, MountPath: dir, ReadOnly: true})
	}
	return volumes, mounts
}

func writeImage(path, name string, files []entry) error {
	layer, err := writeLayer(files)
	if err != nil {
		return fmt.Errorf("image %s: %w", name, err)
	}
	id := fmt.Sprintf("%x", sha256.Sum256(layer))
	config := map[string]any{
		"architecture": runtime.GOARCH, "os": "linux",
		"config": map[string]any{"Env": []string{"PATH=/bin:/usr/bin"}},
		"rootfs": map[string]any{"type": "layers", "diff_ids": []string{"sha256:" + id}},
	}
	if name == pause {
		config["config"] = map[string]any{"Entrypoint": []string{"/pause"}}
	}
	c, err := json.Marshal(config)
	if err != nil {
		return fmt.Errorf("image %s: %w", name, err)
	}
	configName := fmt.Sprintf("%x.json", sha256.Sum256(c))
	m, err := json.Marshal([]map[string]any{{
		"Config": configName, "RepoTags": []string{name}, "Layers": []string{id + "/layer.tar"},
	}})
	if err != nil {
		return fmt.Errorf("image %s: %w", name, err)
	}
	return writeArchive(path, [][2]string{{configName, string(c)}, {id + "/layer.tar", string(layer)}, {"manifest.json", string(m)}})
}

func writeArchive(path string, parts [][2]string) error {
	var buffer bytes.Buffer
	t := tar.NewWriter(&buffer)
	for _, p := range parts {
		if err := add(t, &tar.Header{Name: p[0], Mode: 0o644}, []byte(p[1])); err != nil {
			return err
		}
	}
	if err := t.Close(); err != nil {
		return err
	}
	return os.WriteFile(path, buffer.Bytes(), 0o644)
}

func writeLayer(files []entry) ([]byte, error) {
	var buffer bytes.Buffer
	t := tar.NewWriter(&buffer)
	var made []string
	for _, f := range files {
		above := filepath.Dir(f.path)
		if above != "." && !slices.Contains(made, above) {
			made = append(made, above)
			if err := add(t, &tar.Header{Name: above + "/", Typeflag: tar.TypeDir, Mode: 0o755}, nil); err != nil {
				return nil, err
			}
		}
		if err := addEntry(t, f); err != nil {
			return nil, err
		}
	}
	err := t.Close()
	return buffer.Bytes(), err
}

func addEntry(t *tar.Writer, f entry) error {
	switch {
	case f.link != "":
		return add(t, &tar.Header{Name: f.path, Typeflag: tar.TypeSymlink, Linkname: f.link, Mode: 0o777}, nil)
	case f.from == "":
		return add(t, &tar.Header{Name: f.path + "/", Typeflag: tar.TypeDir, Mode: 0o1777}, nil)
	}
	data, err := os.ReadFile(f.from)
	if err != nil {
		return err
	}
	return add(t, &tar.Header{Name: f.path, Typeflag: tar.TypeReg, Mode: 0o755}, data)
}

func add(t *tar.Writer, h *tar.Header, data []byte) error {
	h.Size, h.ModTime = int64(len(data)), time.Unix(0, 0)
	if err := t.WriteHeader(h); err != nil {
		return err
	}
	_, err := t.Write(data)
	return err
}
