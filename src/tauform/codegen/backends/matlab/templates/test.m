function test_$prefix()
% Compares each function with results that were computed before the code was written.
% In MATLAB: test_$prefix; in a shell: octave-cli --eval test_$prefix
passed = true;
$cases
if ~passed
  error('test_$prefix:failed', 'a function differs from its stored results');
end
end

function good = compare(name, tolerance, inputs, outputs)
% Inputs and outputs are cells {size, states or one for all, ...}; entries of a state stand row by row.
largest = 0;
n_states = size(outputs{1}{2}, 1);
for state = 1:n_states
  given = cell(1, numel(inputs));
  for k = 1:numel(inputs)
    values = inputs{k}{2};
    given{k} = array_of(values(min(state, size(values, 1)), :), inputs{k}{1});
  end
  found = cell(1, numel(outputs));
  [found{:}] = feval(name, given{:});
  for k = 1:numel(outputs)
    expected = array_of(outputs{k}{2}(state, :), outputs{k}{1});
    scale = array_of(outputs{k}{3}, outputs{k}{1});
    if ~isequal(size(found{k}), size(expected)) || ~isreal(found{k})
      largest = Inf;
    else
      deviation = abs(found{k} - expected)./scale;
      deviation(isnan(deviation)) = Inf;
      largest = max([largest; deviation(:)]);
    end
  end
end
good = largest <= tolerance;
words = {'FAILED', 'ok'};
fprintf('%s: largest deviation %.1e, allowed %.1e: %s\n', name, largest, tolerance, words{good + 1});
end

function array = array_of(row, shape)
n = numel(shape);
array = permute(reshape(row, shape(end:-1:1)), n:-1:1);
end
