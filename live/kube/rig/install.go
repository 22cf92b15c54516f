package rig

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"
)

var crd = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

var first = []string{"CustomResourceDefinition", "Namespace"}

// Install creates or updates the objects in YAML files, or in the *.yaml files of directories. It begins with custom
// resource definitions, and waits until they are served.
func (c *Cluster) Install(ctx context.Context, paths ...string) error {
	objects, err := ReadObjects(paths...)
	if err != nil {
		return err
	}
	return c.Apply(ctx, objects...)
}

// Apply applies objects as Install does. It reorders them.
func (c *Cluster) Apply(ctx context.Context, objects ...*unstructured.Unstructured) error {
	client, err := dynamic.NewForConfig(c.Config)
	if err != nil {
		return err
	}
	found, err := discovery.NewDiscoveryClientForConfig(c.Config)
	if err != nil {
		return err
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(found))
	slices.SortStableFunc(objects, func(a, b *unstructured.Unstructured) int { return rank(a) - rank(b) })
	var waiting []string // names of definitions
	for _, o := range objects {
		if rank(o) > 0 && len(waiting) > 0 {
			if err := c.established(ctx, client, waiting); err != nil {
				return err
			}
			waiting = nil
			mapper.Reset()
		}
		if err := apply(ctx, client, mapper, o); err != nil {
			return fmt.Errorf("apply %s %s: %w", o.GetKind(), o.GetName(), err)
		}
		if rank(o) == 0 {
			waiting = append(waiting, o.GetName())
		}
	}
	return c.established(ctx, client, waiting)
}

func rank(o *unstructured.Unstructured) int {
	if i := slices.Index(first, o.GetKind()); i >= 0 {
		return i
	}
	return len(first)
}

func apply(ctx context.Context, client dynamic.Interface, mapper meta.RESTMapper, o *unstructured.Unstructured) error {
	kind := o.GroupVersionKind()
	m, err := mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return err
	}
	options := v1.ApplyOptions{FieldManager: "rig", Force: true}
	if m.Scope.Name() != meta.RESTScopeNameNamespace {
		_, err = client.Resource(m.Resource).Apply(ctx, o.GetName(), o, options)
		return err
	}
	if o.GetNamespace() == "" {
		o.SetNamespace("default")
	}
	_, err = client.Resource(m.Resource).Namespace(o.GetNamespace()).Apply(ctx, o.GetName(), o, options)
	return err
}

func (c *Cluster) established(ctx context.Context, client dynamic.Interface, definitions []string) error {
	for _, name := range definitions {
		err := poll(ctx, c.Process(APIServer), name+" to be established", func() bool {
			o, err := client.Resource(crd).Get(ctx, name, v1.GetOptions{})
			return err == nil && condition(o, "Established") == "True"
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func condition(o *unstructured.Unstructured, kind string) string {
	all, _, err := unstructured.NestedSlice(o.Object, "status", "conditions")
	if err != nil {
		return ""
	}
	for _, one := range all {
		if m, ok := one.(map[string]any); ok && m["type"] == kind {
			status, _ := m["status"].(string)
			return status
		}
	}
	return ""
}

// ReadObjects reads the objects in YAML files and directories.
func ReadObjects(paths ...string) ([]*unstructured.Unstructured, error) {
	var all []*unstructured.Unstructured
	for _, path := range paths {
		files, err := yamlFiles(path)
		if err != nil {
			return nil, err
		}
		for _, name := range files {
			data, err := os.ReadFile(name)
			if err != nil {
				return nil, err
			}
			objects, err := decode(data)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			all = append(all, objects...)
		}
	}
	return all, nil
}

func yamlFiles(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	files, err := filepath.Glob(filepath.Join(path, "*.yaml"))
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("%s: no *.yaml files", path)
	}
	return files, err
}

func decode(data []byte) ([]*unstructured.Unstructured, error) {
	var all []*unstructured.Unstructured
	d := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(data), 4096)
	for {
		o := &unstructured.Unstructured{}
		err := d.Decode(&o.Object)
		switch {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, err
		case len(o.Object) == 0:
			continue
		case o.GetKind() == "" || o.GetName() == "":
			return nil, fmt.Errorf("object %d has kind %q and name %q; both are required", len(all), o.GetKind(), o.GetName())
		}
		all = append(all, o)
	}
}
