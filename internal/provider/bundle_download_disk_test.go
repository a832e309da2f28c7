package provider

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/docs-hosting/terraform-provider-docs/internal/bundle"
	"github.com/docs-hosting/terraform-provider-docs/internal/client"
	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

// addBundle adds a completed job whose bundle is a site of that many pages and two
// assets: index.html, quickstart.html, guides/hosting.html, and so on.
func (h *harness) addBundle(id string, pages int) {
	h.service.AddJob(simulator.JobSpec{ID: id, Queue: ended, Run: ended, Pages: pages})
}

// download returns a configuration that downloads a bundle to NAME/bundle.tar.gz and
// unpacks it to NAME/site.
func (c *cli) download(name, jobID, arguments string) string {
	return fmt.Sprintf("resource \"docs_bundle_download\" %q {\n  job_id = %q\n  path = %q\n  extract_to = %q\n  %s\n}\n",
		name, jobID, c.inFolder(name, "bundle.tar.gz"), c.inFolder(name, "site"), arguments)
}

// inFolder returns a name in the CLI's folder, which is not the provider's.
func (c *cli) inFolder(elements ...string) string {
	return filepath.ToSlash(filepath.Join(c.terraform.Folder, filepath.Join(elements...)))
}

// disk returns what is in a directory: contents of files.
func (c *cli) disk(t *testing.T, directory string) map[string]string {
	t.Helper()
	root, found := c.inFolder(directory), map[string]string{}
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(name)
		found[strings.TrimPrefix(filepath.ToSlash(name), root+"/")] = string(content)
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return found
}

// wantDisk checks everything that is in a directory.
func (c *cli) wantDisk(t *testing.T, directory string, want map[string]string) {
	t.Helper()
	if got := c.disk(t, directory); !reflect.DeepEqual(got, want) {
		t.Errorf("%s holds\n%.30q\nwant\n%.30q", directory, got, want)
	}
}

// change changes a directory of the folder by comma-separated steps: rm NAME, put NAME
// (a file), dir NAME, and copy NAME (another directory).
func (c *cli) change(t *testing.T, directory, steps string) {
	t.Helper()
	for step := range strings.SplitSeq(steps, ", ") {
		verb, name, _ := strings.Cut(step, " ")
		name = c.inFolder(directory, name)
		err := os.MkdirAll(filepath.Dir(name), 0o755)
		switch verb {
		case "rm":
			err = os.RemoveAll(name)
		case "put":
			err = cmp.Or(err, os.WriteFile(name, []byte("mine"), 0o600))
		case "dir":
			err = os.MkdirAll(name, 0o755)
		case "copy":
			err = cmp.Or(os.RemoveAll(c.inFolder(directory)), copyWithTimes(c.inFolder(filepath.Base(name)), c.inFolder(directory)))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// copyWithTimes copies a directory as a backup does, by which the resource recognizes it.
func copyWithTimes(from, to string) error {
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		return err
	}
	return filepath.WalkDir(from, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		return cmp.Or(err, os.Chtimes(filepath.Join(to, strings.TrimPrefix(name, from)), info.ModTime(), info.ModTime()))
	})
}

// TestDownloadReplacesItsOwnFilesOnly goes through what may be on disk. Package bundle
// tests what counts as the resource's own.
func TestDownloadReplacesItsOwnFilesOnly(t *testing.T) {
	t.Parallel()
	// at is the argument of what the resource did not write, problem describes it, and announced
	// is what the plan says about the apply. So "file replaced" makes a directory of the archive;
	// the plan must warn, the apply must stop at path, and both must leave what is in the directory.
	tests := map[string]struct{ change, at, problem, announced string }{
		"as recorded":        {},
		"older bundle":       {change: "copy older"},
		"everything missing": {change: "rm ."},
		"directory empty":    {change: "rm site, dir site"},
		"file replaced":      {change: "rm bundle.tar.gz, put bundle.tar.gz/mine", at: "path", problem: `bundle.tar.gz" is a directory`, announced: "The apply stops before it changes any file."},
		"page edited":        {change: "put site/index.html", at: "extract_to", problem: `site" differs from what this resource wrote: "index.html" was changed`, announced: "The apply stops with an error before it changes any file, unless the content there is that of the bundle."},
	}
	h := newHarness(t, simulator.Options{})
	h.addBundle("se_1", 2)
	h.addBundle("se_2", 3)
	c := h.cli(t, "")
	apply := func(job string) {
		var config strings.Builder
		for name := range tests {
			config.WriteString(c.download(label(name), job, ""))
		}
		c.write(t, config.String())
		c.apply(t, 0)
	}
	changeAll := func() map[string]map[string]string {
		changed := map[string]map[string]string{}
		for name, test := range tests {
			c.change(t, label(name), test.change)
			changed[name] = c.disk(t, label(name))
		}
		return changed
	}
	apply("se_1")
	c.change(t, "older", "copy older_bundle")
	apply("se_2")
	fresh := c.disk(t, "as_recorded")

	changed := changeAll()
	wantPhrases(t, c.terraform.Run(t, 0, "plan", "-refresh-only"), "No changes.")
	plan := c.report(t, 2, "plan", "-detailed-exitcode", "-out=saved")
	c.service.ResetRequests()
	applied := c.report(t, 1, "apply", "saved")
	c.wantCounts(t, counts{bundle: 5, download: 5}) // none for what is as recorded
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got, want := plan.planned[label(name)], map[bool]string{false: "update"}[test.change == ""]; got != want {
				t.Errorf("planned %q, want %q", got, want)
			}
			if test.at == "" {
				plan.wantNothingSaid(t, name)
				if test.change != "" {
					applied.wantNothingSaid(t, name)
				}
				c.wantDisk(t, label(name), fresh)
				return
			}
			plan.wantSaid(t, name, "warning: Unexpected files at the bundle's path: "+c.inFolder(label(name))+"/", test.problem+". "+test.announced)
			applied.wantSaid(t, name, "error: Unexpected files at the bundle's path ("+test.at+")", test.problem+". This resource changed no files, and its state is unchanged.", "use a different "+test.at+".")
			c.wantDisk(t, label(name), changed[name])
			c.change(t, label(name), "rm .") // as the error says
		})
	}
	c.apply(t, 0)
	c.wantEmptyPlan(t)

	changed = changeAll()
	said := c.report(t, 0, "destroy", "-auto-approve").said[""] // the warnings have no address
	for name, test := range tests {
		t.Run("destroy, "+name, func(t *testing.T) {
			left := map[string]string{}
			for file, content := range changed[name] {
				if test.at == "path" && strings.HasPrefix(file, "bundle.tar.gz/") || test.at == "extract_to" && strings.HasPrefix(file, "site/") {
					left[file] = content
				}
			}
			c.wantDisk(t, label(name), left)
		})
	}
	if n := strings.Count(said, "warning: "+summaryForeignFiles+": "+c.inFolder()); n != 2 || strings.Count(said, ". It was not deleted.") != 2 {
		t.Errorf("%d warnings, want 2:\n%s", n, said)
	}
}

func TestReplacementAtTheSamePathDeletesFirst(t *testing.T) {
	t.Parallel()
	c := newDownload(t)
	c.write(t, strings.Replace(c.download("site", "se_1", ""), "site/site", "site/pages", 1))
	c.change(t, "site", "put pages")
	occupied := c.report(t, 0, "plan")
	occupied.wantSaid(t, "site", "pages\" is a file. The apply stops. If this plan replaces")
	if count := strings.Count(occupied.said["site"], "warning: "); count != 1 {
		t.Errorf("%d warnings, want one:\n%s", count, occupied.said["site"])
	}
	c.change(t, "site", "rm pages")
	plan := c.report(t, 2, "plan", "-detailed-exitcode", "-out=saved")
	plan.wantNothingSaid(t, "site") // its own files are no warning
	if plan.planned["site"] != "replace" {
		t.Errorf("planned %q, want a replacement", plan.planned["site"])
	}
	c.terraform.Run(t, 0, "apply", "saved")
	c.wantEmptyPlan(t)
}

// Terraform destroys the old resource after it has created the new one.
func TestReplacementThatCreatesFirstKeepsItsFiles(t *testing.T) {
	t.Parallel()
	c := newHarness(t, simulator.Options{}).cli(t, "")
	c.addBundle("se_1", 2)
	c.addBundle("se_2", 3)
	jobs := map[string]string{"same": "se_1", "fresh": "se_1", "other": "se_1"}
	replace := []string{"apply", "-auto-approve"}
	write := func() {
		var config strings.Builder
		for name, job := range jobs {
			config.WriteString(c.download(name, job, "lifecycle {\n    create_before_destroy = true\n  }"))
		}
		c.write(t, config.String())
	}
	write()
	c.apply(t, 0)
	for name := range jobs {
		replace = append(replace, "-replace=docs_bundle_download."+name)
	}
	c.change(t, "fresh", "rm .")
	jobs["other"] = "se_2"
	write()
	applied := c.report(t, 1, replace...)
	applied.wantSaid(t, "other", "error: Unexpected files at the bundle's path (path)", `bundle.tar.gz" already exists, and there is no record that this resource wrote it. This resource wrote no files.`, "(extract_to)")
	for _, name := range []string{"same", "fresh"} {
		if strings.Contains(applied.said[name], "error: ") {
			t.Errorf("of %s, the apply says:\n%s", name, applied.said[name])
		}
		c.wantDownload(t, name, 4)
	}
	c.change(t, "other", "rm .") // as the error says
	c.apply(t, 0)
	c.wantDownload(t, "other", 5)
	c.wantEmptyPlan(t)
	c.report(t, 0, "destroy", "-auto-approve")
	for name := range jobs {
		c.wantDisk(t, name, map[string]string{})
	}
}

// wantDownload checks that a directory holds one archive and its files.
func (c *cli) wantDownload(t *testing.T, directory string, files int) {
	t.Helper()
	if disk := c.disk(t, directory); len(disk) != 1+files || disk["site/index.html"] == "" {
		t.Errorf("%s holds %.30q, want an archive and its %d files", directory, disk, files)
	}
}

// TestFailureOfADownloadSaysWhatToDo has the whole messages. Nothing else makes a disk full, or
// keeps a rename from being undone, on every system.
func TestFailureOfADownloadSaysWhatToDo(t *testing.T) {
	t.Parallel()
	full := &fs.PathError{Op: "write", Path: "tmp", Err: syscall.ENOSPC}
	refused := func(err error) error { return &os.LinkError{Op: "rename", Old: "site", New: "tmp", Err: err} }
	cut := &client.ConnectionError{Method: "GET", Path: "/b", Host: "store", Storage: true, Reason: "EOF"}
	missing := &client.APIError{Exchange: client.Exchange{Method: "POST", Path: "/b", StatusCode: 404}}
	const makeSure = "Make sure that Terraform can read \"a.tgz\" and \"site\" and write to the directories that contain them, and that the disk has free space. "
	for name, test := range map[string]struct {
		operation downloadOperation
		err       error
		want      string
	}{
		"full in a create":        {createDownload, full, "Could not write the bundle\nThe operating system returned: write tmp: no space left on device.\n\nThis resource wrote no files.\n\n" + makeSure + "Then run \"terraform apply\" again."},
		"full in an update":       {updateDownload, full, "Could not write the bundle\nThe operating system returned: write tmp: no space left on device.\n\nThis resource changed no files, and its state is unchanged.\n\n" + makeSure + "Then run \"terraform apply\" again."},
		"too many open files":     {planDownload, &fs.PathError{Op: "open", Path: "tmp", Err: syscall.EMFILE}, "Could not inspect the downloaded bundle\nThe operating system returned: open tmp: too many open files.\n\nNo files were changed.\n\nRaise the limit on open files (ulimit -n) or reduce -parallelism. Then run the same command again."},
		"too many connections":    {createDownload, &client.ConnectionError{Method: "GET", Path: "/b", Host: "store", TooManyFiles: true, Reason: "socket"}, "Could not download the bundle\nThe request GET /b to store failed: socket.\n\nThe job_id is se_1. This resource wrote no files.\n\nRaise the limit on open files (ulimit -n) or reduce -parallelism. Then run \"terraform apply\" again."},
		"a name that is too long": {planDownload, &fs.PathError{Op: "lstat", Path: "a.tgz", Err: syscall.ENAMETOOLONG}, "Could not inspect the downloaded bundle\nThe operating system returned: lstat a.tgz: file name too long.\n\nNo files were changed.\n\nShorten path or extract_to."},
		"mount point":             {planDownload, refused(syscall.EBUSY), "Could not inspect the downloaded bundle\nThe operating system returned: rename site tmp: device or resource busy.\n\nNo files were changed.\n\nIf extract_to is a mount point, use a subdirectory of it."},
		"container image":         {planDownload, refused(syscall.EXDEV), "Could not inspect the downloaded bundle\nThe operating system returned: rename site tmp: invalid cross-device link.\n\nNo files were changed.\n\nThe file system cannot rename \"site\", for example because it is part of a container image. Use a different extract_to, or delete the directory. Then run the same command again."},
		"rename is not undone": {
			updateDownload,
			fmt.Errorf("%w; %w: %w", refused(syscall.EBUSY), bundle.ErrNotUndone, refused(syscall.EPERM)),
			"Could not write the bundle\nThe operating system returned: rename site tmp: device or resource busy; the change was undone only in part: rename site tmp: operation not permitted.\n\nMove the previous files back from the temporary directory that the error names. Then run \"terraform apply\" again.",
		},
		"cut at the store":    {createDownload, cut, "Could not download the bundle\nThe request to the object store store failed: EOF.\n\nThe job_id is se_1. This resource wrote no files.\n\nCheck the network and the proxy settings (HTTPS_PROXY, NO_PROXY), and try again."},
		"missing bundle":      {createDownload, missing, "Could not download the bundle\nThe service returned HTTP 404 Not Found for POST /b, without a message.\n\nThe job_id is se_1. This resource wrote no files.\n\n" + checkService + " " + missingBundle},
		"interrupted plan":    {planDownload, context.Canceled, "Could not inspect the downloaded bundle\nTerraform was interrupted.\n\nNo files were changed.\n\nTo continue, run the same command again."},
		"interrupted destroy": {deleteDownload, context.Canceled, "Could not delete the downloaded bundle\nTerraform was interrupted.\n\nThe job_id is se_1. No files were deleted, and the state is unchanged.\n\nTo continue, run the same command again."},
		"damaged archive":     {createDownload, &bundle.ArchiveError{Err: io.ErrUnexpectedEOF, Damaged: true}, "Could not unpack the bundle\nThe bundle of job se_1 is damaged: unexpected EOF. This resource wrote no files.\n\nRun \"terraform apply\" again. If the bundle is still damaged, change triggers in the docs_static_export resource to export the site again."},
		"unsafe archive":      {createDownload, &bundle.ArchiveError{Err: errors.New("it contains no files")}, "Could not unpack the bundle\nThe bundle of job se_1 cannot be unpacked, because it contains no files. This resource wrote no files.\n\nTo download it as it is, remove extract_to."},
		"foreign files":       {createDownload, bundle.OccupiedError{{Name: "a.tgz", Problem: "already exists"}}, "Unexpected files at the bundle's path\n\"a.tgz\" already exists. This resource wrote no files.\n\nIf something else uses \"a.tgz\", for example another docs_bundle_download resource, use a different path. Otherwise, move or delete \"a.tgz\". Then run \"terraform apply\" again."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var diags diag.Diagnostics
			jobID := "se_1"
			if test.operation == planDownload {
				jobID = "" // not known yet
			}
			test.operation.addFailure(&diags, jobID, bundle.Target{Path: "a.tgz", Directory: "site"}, test.err)
			if got := diags[0].Summary() + "\n" + diags[0].Detail(); got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}

// storedText is a private state with one value.
type storedText string

func (s storedText) GetKey(context.Context, string) ([]byte, diag.Diagnostics)     { return []byte(s), nil }
func (storedText) SetKey(context.Context, string, []byte) (diags diag.Diagnostics) { return nil }

func TestPrivateStateThatIsLostOrUnreadable(t *testing.T) {
	t.Parallel()
	const unreadable = "Private state is unreadable: a.tgz\nThe private state of the resource is damaged or was written by another version of the provider, so the provider ignores it. Until the next download, the resource recognizes only the files of its last bundle, and a destroy deletes nothing.\n\nNo action is needed now. If a later plan or a destroy warns about files that you do not need, delete them."
	last := bundle.Owned{Files: []bundle.Written{{Digest: "file"}}, Trees: []bundle.Written{{Digest: "tree"}}}
	for private, said := range map[storedText]string{"": "", "[]": unreadable} {
		state := &bundleDownloadModel{Path: types.StringValue("a.tgz"), SHA256: types.StringValue("file"), ContentSHA256: types.StringValue("tree")}
		var diags diag.Diagnostics
		if owned := readOwned(t.Context(), private, state, &diags); !reflect.DeepEqual(owned, last) {
			t.Errorf("%q: got %v, want %v", private, owned, last)
		}
		if (len(diags) > 0) != (said != "") || len(diags) > 0 && diags[0].Summary()+"\n"+diags[0].Detail() != said {
			t.Errorf("%q: said %v, want %s", private, diags, said)
		}
	}
}
